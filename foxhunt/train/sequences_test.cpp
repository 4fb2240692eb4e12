#include "foxhunt/train/sequences.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/features/test_plugins.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::train {
namespace {

using features::test::make_pipeline;
using features::test::push_all;
using features::test::small_config;
using market::Bar;
using std::chrono::hours;
using std::chrono::minutes;
using test::build;
using test::FakeReader;
using test::kOpen;
using test::random_bars;
using test::tick_labels;

/// Four sessions with holes, a roll, a halt, bad and doubled bars.
std::vector<Bar> rough_bars(Rng& rng) {
  std::vector<Bar> bars;
  for (int day = 0; day < 4; ++day) {
    const auto more = random_bars(rng, kOpen + hours{24 * day + (day == 2 ? 21 : 0)}, 140);
    bars.insert(bars.end(), more.begin(), more.end());
  }
  for (std::size_t i = 50; i < 140; ++i) bars[i].start += minutes{40};
  for (std::size_t i = 200; i < 560; ++i) bars[i].instrument.instrument_id = 8;
  bars[20].close = Price::null();
  bars[240] = bars[239];
  return bars;
}

TEST(Sequences, RowsAreThoseOfThePipelineInOrder) {
  Rng rng(1);
  const std::vector<Bar> bars = rough_bars(rng);
  const SequenceSet set = build(bars, tick_labels(3));
  auto pipeline = make_pipeline();
  const auto outcome = push_all(pipeline, bars);
  std::size_t s = 0;
  std::int64_t t = 0;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    if (outcome.rows[i].empty()) continue;
    ASSERT_LT(s, set.sequences.size());
    const Sequence& sequence = set.sequences[s];
    const auto row = sequence.row(t);
    EXPECT_TRUE(std::equal(row.begin(), row.end(), outcome.rows[i].begin()));
    const auto at = static_cast<std::size_t>(t);
    EXPECT_EQ(sequence.bar_start[at], bars[i].start);
    EXPECT_EQ(sequence.available_at[at], bars[i].start + minutes{1});
    EXPECT_EQ(sequence.close[at], bars[i].close);
    EXPECT_EQ(sequence.instrument, bars[i].instrument);
    if (++t == sequence.length()) ++s, t = 0;
  }
  EXPECT_EQ(s, set.sequences.size());
  EXPECT_EQ(set.schema.hash(), pipeline.schema().hash());
}

TEST(Sequences, NoLabelCrossesASessionAHaltARollOrALongHole) {
  Rng rng(2);
  const std::vector<Bar> bars = rough_bars(rng);
  const auto calendar = market::Calendar::for_product("ES");
  for (const std::int64_t horizon : {1, 5, 30}) {
    const SequenceSet set = build(bars, tick_labels(horizon));
    std::int64_t labels = 0;
    for (const Sequence& sequence : set.sequences) {
      for (std::size_t t = 0; t < sequence.labels.valid.size(); ++t) {
        if (sequence.labels.valid[t] == 0) continue;
        ++labels;
        // All bars of the file from the decision to the label's end, by brute force.
        std::vector<Bar> inside;
        for (const Bar& bar : bars) {
          if (bar.close.is_null() || bar.start < sequence.bar_start[t] ||
              bar.end() > sequence.labels.end[t])
            continue;
          if (inside.empty() || inside.back().start != bar.start) inside.push_back(bar);
        }
        ASSERT_EQ(inside.size(), static_cast<std::size_t>(horizon) + 1);
        const auto session = calendar.session_at(inside.front().start);
        for (std::size_t i = 0; i < inside.size(); ++i) {
          EXPECT_EQ(inside[i].instrument, inside[0].instrument);
          EXPECT_EQ(calendar.session_at(inside[i].start), session);
          EXPECT_EQ(inside[i].start < session->halt_start, inside[0].start < session->halt_start);
          if (i > 0) {
            EXPECT_LE(inside[i].start - inside[i - 1].end(), minutes{30});
          }
        }
        const std::int64_t move = inside.back().close.nano - inside.front().close.nano;
        EXPECT_EQ(sequence.labels.classes[t], std::abs(move) <= 250'000'000 ? kFlat
                                              : move > 0                    ? kUp
                                                                            : kDown);
      }
    }
    EXPECT_EQ(labels, set.counters.labelled);
    EXPECT_GT(labels, 100);
  }
}

TEST(Sequences, EveryRecordIsAccountedFor) {
  Rng rng(3);
  const std::vector<Bar> bars = rough_bars(rng);
  const SequenceSet set = build(bars, {.horizon = 5, .volatility_span = 20});
  const SequenceCounters& c = set.counters;
  EXPECT_EQ(c.selection.records, 560);
  EXPECT_EQ(c.bars.bars, c.selection.selected);
  EXPECT_EQ(c.bars.closed, 20);  // 15 of a halt, 5 behind a close
  EXPECT_EQ(c.bars.null_value, 1);
  EXPECT_EQ(c.bars.duplicates, 1);
  EXPECT_EQ(c.rows, c.bars.ready);
  EXPECT_EQ(c.rows, c.labelled + c.label_beyond_sequence + c.label_without_volatility);
  EXPECT_EQ(c.bars.sequences,
            static_cast<std::int64_t>(set.sequences.size()) + c.sequences_without_rows);
  std::int64_t rows = 0;
  for (const Sequence& sequence : set.sequences) {
    rows += sequence.length();
    EXPECT_EQ(sequence.rows.size(), static_cast<std::size_t>(sequence.length() * sequence.width));
    for (const std::size_t n :
         {sequence.labels.valid.size(), sequence.labels.end.size(), sequence.close.size(),
          sequence.labels.persistence.size(), sequence.bar_start.size()}) {
      EXPECT_EQ(n, static_cast<std::size_t>(sequence.length()));
    }
    // Warm-up 9 bars, volatility of labels 21: the first 12 rows have no label, the last 5 neither.
    for (std::int64_t t = 0; t < sequence.length(); ++t) {
      EXPECT_EQ(sequence.labels.valid[static_cast<std::size_t>(t)],
                t >= 12 && t + 5 < sequence.length());
    }
  }
  EXPECT_EQ(rows, c.rows);
  EXPECT_THAT(c.summary(), testing::HasSubstr("560 records, 560 selected"));
  EXPECT_THAT(c.summary(), testing::HasSubstr("whose label would leave the sequence"));
}

// A value of a user's library that is not finite takes a row out of the middle of a sequence: all
// others keep the label that they have in a sequence without a hole.
TEST(Sequences, ARowThatIsMissingInTheMiddleShiftsNoLabel) {
  Rng rng(4);
  std::vector<Bar> bars = rough_bars(rng);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].volume = 2 * (bars[i].volume / 2) + (i % 7 == 3 ? 1 : 0);  // odd: no value
    if (bars[i].high == bars[i].low) bars[i].high.nano += features::test::kTick;
  }
  for (const bundle::LabelConfig& labels :
       {tick_labels(3), bundle::LabelConfig{.horizon = 5, .volatility_span = 20}}) {
    const SequenceSet whole = build(bars, labels);
    const SequenceSet holes =
        build(bars, labels, features::test::with_plugins({features::test::plugin("not_finite")}));
    const SequenceCounters& c = holes.counters;
    EXPECT_EQ(c.bars.ready + c.bars.not_finite, whole.counters.bars.ready);
    EXPECT_GT(c.bars.not_finite, 40);
    EXPECT_EQ(c.rows, c.bars.ready);
    EXPECT_THAT(c.summary(), testing::HasSubstr(fmt::format("not finite: two {}; {} rows",
                                                            c.bars.not_finite, c.rows)));
    ASSERT_EQ(holes.sequences.size(), whole.sequences.size());
    std::int64_t beyond = 0, without = 0;
    for (std::size_t s = 0; s < holes.sequences.size(); ++s) {
      const Sequence& some = holes.sequences[s];
      const Sequence& all = whole.sequences[s];
      std::size_t t = 0;
      for (std::size_t i = 0; i < all.available_at.size(); ++i) {
        const bool last = static_cast<std::int64_t>(all.available_at.size() - i) <= labels.horizon;
        if (t == some.available_at.size() || some.available_at[t] != all.available_at[i]) continue;
        EXPECT_EQ(some.close[t], all.close[i]);
        EXPECT_EQ(some.labels.valid[t], all.labels.valid[i]);
        EXPECT_EQ(some.labels.classes[t], all.labels.classes[i]);
        EXPECT_EQ(some.labels.value[t], all.labels.value[i]);
        EXPECT_EQ(some.labels.end[t], all.labels.end[i]);
        EXPECT_EQ(some.labels.persistence[t], all.labels.persistence[i]);
        EXPECT_EQ(some.row(static_cast<std::int64_t>(t))[0],
                  all.row(static_cast<std::int64_t>(i))[0]);
        if (some.labels.valid[t] == 0) ++(last ? beyond : without);
        ++t;
      }
      EXPECT_EQ(t, some.available_at.size());
    }
    EXPECT_EQ(c.label_beyond_sequence, beyond);
    EXPECT_EQ(c.label_without_volatility, without);
  }
}

TEST(Sequences, APlantedImpulseLinesUpInRowsAndLabels) {
  // The price steps up during bar 40. The row of bar 40 is the first to know; the labels of bars 36
  // to 39 foresaw it.
  std::vector<Bar> bars(80, features::test::bar_at(kOpen, 1700, 1700, 1700, 1700, 10));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].start += minutes{i};
    if (i >= 40) bars[i].close = bars[i].high = features::test::points(1705);
    if (i > 40) bars[i].open = bars[i].low = bars[i].close;
  }
  const SequenceSet set = build(bars, tick_labels(4));
  ASSERT_EQ(set.sequences.size(), 1U);
  const Sequence& sequence = set.sequences[0];
  ASSERT_EQ(set.schema.columns[0].name, "ret_1");
  for (std::int64_t t = 0; t < sequence.length(); ++t) {
    const auto at = static_cast<std::size_t>(t);
    const std::int64_t bar = (sequence.bar_start[at] - kOpen) / minutes{1};
    EXPECT_EQ(sequence.row(t)[0] > 0, bar == 40) << bar;
    if (sequence.labels.valid[at] != 0) {
      EXPECT_EQ(sequence.labels.classes[at], bar >= 36 && bar < 40 ? kUp : kFlat) << bar;
    }
    EXPECT_EQ(sequence.labels.persistence[at], bar >= 40 && bar < 44 ? kUp : kFlat) << bar;
  }
}

TEST(Sequences, FilesThatFollowOneAnotherGiveWhatOneFileGives) {
  Rng rng(4);
  const std::vector<Bar> bars = random_bars(rng, kOpen, 200);
  SequenceBuilder builder({}, small_config(), tick_labels(5));
  FakeReader first({bars.begin(), bars.begin() + 100});
  FakeReader second({bars.begin() + 98, bars.end()});  // two bars are in both files
  builder.add(first);
  builder.add(second);
  const SequenceSet parts = builder.finish();
  const SequenceSet whole = build(bars, tick_labels(5));
  ASSERT_EQ(parts.sequences.size(), 1U);
  EXPECT_EQ(parts.sequences[0].rows, whole.sequences[0].rows);
  EXPECT_EQ(parts.sequences[0].labels.classes, whole.sequences[0].labels.classes);
  EXPECT_EQ(parts.counters.bars.unordered(), 2);
}

TEST(Sequences, MoreDataChangesNothingOfWhatWasThere) {
  Rng rng(5);
  const std::vector<Bar> bars = rough_bars(rng);
  const SequenceSet all = build(bars, tick_labels(5));
  for (const std::size_t n : {60UL, 139UL, 140UL, 141UL, 330UL}) {
    const SequenceSet some =
        build({bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(n)}, tick_labels(5));
    for (std::size_t s = 0; s < some.sequences.size(); ++s) {
      const Sequence& a = some.sequences[s];
      const Sequence& b = all.sequences[s];
      ASSERT_LE(a.length(), b.length());
      EXPECT_TRUE(std::equal(a.rows.begin(), a.rows.end(), b.rows.begin()));
      for (std::size_t t = 0; t < a.labels.valid.size(); ++t) {
        if (a.labels.valid[t] !=
            0) {  // a label that was out of reach may become known, none changes
          EXPECT_EQ(a.labels.classes[t], b.labels.classes[t]);
          EXPECT_EQ(a.labels.end[t], b.labels.end[t]);
        }
      }
    }
  }
}

TEST(Sequences, SaysWhatWasInAFileThatGivesNoRow) {
  const auto refusal = [](const std::vector<Bar>& bars) -> std::string {
    try {
      build(bars, {});
    } catch (const DataError& error) {
      return error.what();
    }
    return "";
  };
  Rng rng(6);
  EXPECT_THAT(refusal({}), testing::HasSubstr("no feature row came out: 0 records"));
  EXPECT_THAT(refusal(random_bars(rng, kOpen, 8)),
              testing::HasSubstr("8 warming up in 1 sequences"));
  EXPECT_THAT(refusal(random_bars(rng, parse_time("2013-10-12T12:00"), 30)),
              testing::HasSubstr("30 outside of sessions"));
  std::vector<Bar> hours_long = random_bars(rng, kOpen, 30);
  for (Bar& bar : hours_long) bar.span = hours{1};
  EXPECT_THAT(refusal(hours_long), testing::HasSubstr("30 of another length"));
}

TEST(Sequences, NameTheContractAndTheDay) {
  Rng rng(7);
  SequenceBuilder builder({}, small_config(), tick_labels(2));
  FakeReader reader(random_bars(rng, kOpen, 20), test::mapped({{7, "ESZ3"}}));
  builder.add(reader);
  const SequenceSet set = builder.finish();
  ASSERT_EQ(set.sequences.size(), 1U);
  EXPECT_EQ(set.sequences[0].symbol, "ESZ3");
  EXPECT_EQ(to_string(set.sequences[0].trade_date), "2013-10-08");
  EXPECT_EQ(set.sequences[0].length(), 12);
}

TEST(Sequences, RefuseABadConfigAtOnce) {
  EXPECT_THROW(SequenceBuilder({.product = "XX"}, {}, {}), ConfigError);
  EXPECT_THROW(SequenceBuilder({}, {.return_spans = {2, 1}}, {}), ConfigError);
  EXPECT_THROW(SequenceBuilder({}, {}, {.horizon = 0}), ConfigError);
}

}  // namespace
}  // namespace foxhunt::train
