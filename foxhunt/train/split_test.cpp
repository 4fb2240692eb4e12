#include "foxhunt/train/split.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::train {
namespace {

using std::chrono::minutes;
using std::chrono::nanoseconds;
using test::counted_sequence;
using test::kOpen;
using testing::HasSubstr;

std::string refusal(const SplitConfig& config, const std::vector<Sequence>& sequences) {
  try {
    make_split(config, sequences);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

SplitConfig cut_at(UnixNanos train_end, UnixNanos valid_end, std::int64_t embargo) {
  return {.train_end = to_string(train_end),
          .valid_end = to_string(valid_end),
          .embargo_minutes = embargo};
}

/// Sessions of random length at random times, some side by side, with a label of random length on
/// most rows.
std::vector<Sequence> random_sequences(Rng& rng) {
  std::vector<Sequence> sequences;
  const auto draw = [&rng](std::uint64_t n) { return static_cast<std::int64_t>(rng.below(n)); };
  UnixNanos open = kOpen;
  for (int s = 0; s < 6; ++s) {
    Sequence sequence = counted_sequence(open, 10 + draw(40), 1);
    for (std::size_t t = 0; t < sequence.labels.valid.size(); ++t) {
      sequence.labels.valid[t] = draw(10) > 0 ? 1 : 0;
      sequence.labels.end[t] = sequence.labels.valid[t] != 0
                                   ? sequence.available_at[t] + minutes{1 + draw(30)}
                                   : kNullTime;
    }
    sequences.push_back(std::move(sequence));
    open += minutes{5 + draw(120)};
  }
  return sequences;
}

/// One labelled row of a split: its label's interval and its part.
struct Labelled {
  UnixNanos begin;
  UnixNanos end;
  Part part;
};

std::vector<Labelled> labelled_rows(const std::vector<Sequence>& sequences, const Split& split) {
  std::vector<Labelled> rows;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
      if (sequences[s].labels.valid[t] == 0) continue;
      rows.push_back({sequences[s].available_at[t], sequences[s].labels.end[t], split.parts[s][t]});
    }
  }
  return rows;
}

/// Whether two closed intervals have a point in common.
bool touch(UnixNanos a0, UnixNanos a1, UnixNanos b0, UnixNanos b1) { return a0 <= b1 && b0 <= a1; }

TEST(Split, NoLabelOfAPartTouchesALaterPartNorItsEmbargoByBruteForce) {
  Rng rng(1);
  int splits = 0;
  std::int64_t purged = 0;
  for (int trial = 0; trial < 400; ++trial) {
    const std::vector<Sequence> sequences = random_sequences(rng);
    const UnixNanos first = kOpen + minutes{rng.below(250)};
    const UnixNanos second = first + minutes{1 + rng.below(200)};
    const auto embargo = static_cast<std::int64_t>(rng.below(3) * rng.below(20));
    const SplitConfig config = cut_at(first, second, embargo);
    if (!refusal(config, sequences).empty()) continue;  // a part is empty
    ++splits;
    const Split split = make_split(config, sequences);
    const std::vector<Labelled> rows = labelled_rows(sequences, split);
    for (const Labelled& early : rows) {
      for (const Labelled& late : rows) {
        const bool must_be_apart = (early.part == Part::kTrain &&
                                    (late.part == Part::kValid || late.part == Part::kTest)) ||
                                   (early.part == Part::kValid && late.part == Part::kTest);
        if (!must_be_apart) continue;
        ASSERT_FALSE(touch(early.begin, early.end, late.begin - minutes{embargo}, late.end));
        // Nor the region of the later part itself, embargo included, whether or not a row begins
        // there.
        const UnixNanos cut =
            late.part == Part::kValid || early.part == Part::kTrain ? first : second;
        ASSERT_FALSE(touch(early.begin, early.end, cut - minutes{embargo}, UnixNanos::max()));
      }
      // Nothing was purged that did not have to be.
      if (early.part != Part::kPurged) continue;
      ++purged;
      const UnixNanos cut = early.begin < first ? first : second;
      ASSERT_LT(early.begin, second);
      ASSERT_TRUE(touch(early.begin, early.end, cut - minutes{embargo}, UnixNanos::max()));
    }
  }
  EXPECT_GT(splits, 200);
  EXPECT_GT(purged, 1000);
}

TEST(Split, PurgesExactlyTheLabelsThatReachTheEmbargo) {
  // 60 rows at minutes 0..59, each label ends 5 later; cut at minute 30 with an embargo of 4
  // minutes.
  const std::vector<Sequence> sequences{counted_sequence(kOpen, 60, 5)};
  const Split split = make_split(cut_at(kOpen + minutes{30}, kOpen + minutes{45}, 4), sequences);
  const auto part = [&split](std::size_t t) { return split.parts[0][t]; };
  EXPECT_EQ(part(20), Part::kTrain);   // ends at 25, before 26
  EXPECT_EQ(part(21), Part::kPurged);  // ends at 26: touches
  EXPECT_EQ(part(29), Part::kPurged);
  EXPECT_EQ(part(30), Part::kValid);  // the cut itself belongs to the later part
  EXPECT_EQ(part(35), Part::kValid);  // ends at 40, before 41
  EXPECT_EQ(part(36), Part::kPurged);
  EXPECT_EQ(part(44), Part::kPurged);
  EXPECT_EQ(part(45), Part::kTest);
  EXPECT_EQ(part(59), Part::kTest);
  EXPECT_EQ(split.interval(Part::kTrain).rows, 21);
  EXPECT_EQ(split.interval(Part::kTrain).last_available, kOpen + minutes{20});
  EXPECT_EQ(split.interval(Part::kTrain).last_label_end, kOpen + minutes{25});
  EXPECT_EQ(split.interval(Part::kPurged).rows, 18);
  EXPECT_EQ(split.interval(Part::kTest).rows, 15);
  EXPECT_EQ(split.interval(Part::kTest).labelled, 10);
  EXPECT_THAT(split.summary(),
              HasSubstr("train        21 rows,       21 labels, 2013-10-07T22:00:00Z to"));
}

TEST(Split, FractionsCutByTimeOverAllSequences) {
  // Two contracts side by side: rows of one time fall on one side of a cut.
  const std::vector<Sequence> sequences{counted_sequence(kOpen, 100, 1),
                                        counted_sequence(kOpen, 100, 1)};
  const Split split =
      make_split({.train_fraction = 0.6, .valid_fraction = 0.2, .embargo_minutes = 0}, sequences);
  EXPECT_EQ(split.train_end, kOpen + minutes{60});
  EXPECT_EQ(split.valid_end, kOpen + minutes{80});
  EXPECT_EQ(split.parts[0], split.parts[1]);
  EXPECT_EQ(split.interval(Part::kTest).rows, 40);
}

TEST(Split, TimesRuleOverFractions) {
  const std::vector<Sequence> sequences{counted_sequence(kOpen, 100, 1)};
  SplitConfig config = cut_at(kOpen + minutes{10}, kOpen + minutes{20}, 0);
  config.train_fraction = 0.9;
  EXPECT_EQ(make_split(config, sequences).interval(Part::kTest).rows, 80);
}

TEST(Split, RefusesAnEmptyPartAndSaysWhy) {
  const std::vector<Sequence> sequences{counted_sequence(kOpen, 60, 5)};
  const auto at = [](std::int64_t m) { return kOpen + minutes{m}; };
  EXPECT_EQ(refusal(cut_at(at(30), at(45), 0), sequences), "");
  EXPECT_THAT(refusal(cut_at(at(-5), at(45), 0), sequences),
              HasSubstr("the train part is empty: no row is left in it"));
  EXPECT_THAT(
      refusal(cut_at(at(30), at(31), 5), sequences),
      HasSubstr("the valid part is empty: no row is left in it (11 of all rows were purged)"));
  EXPECT_THAT(refusal(cut_at(at(30), at(100), 0), sequences), HasSubstr("the test part is empty"));
  EXPECT_THAT(refusal(cut_at(at(30), at(57), 0), sequences),
              HasSubstr("the test part is empty: none of its 3 rows has a label"));
  EXPECT_THAT(refusal(cut_at(at(30), at(100), 0), sequences),
              HasSubstr("rows reach from 2013-10-07T22:00:00Z to 2013-10-07T22:59:00Z"));
  EXPECT_THAT(refusal({}, {}), HasSubstr("no rows to split"));
  EXPECT_THAT(refusal({.train_fraction = 0}, sequences), HasSubstr("the train part is empty"));
}

TEST(Split, RefusesSettingsThatContradict) {
  const std::vector<Sequence> sequences{counted_sequence(kOpen, 60, 5)};
  EXPECT_THAT(refusal({.train_end = "2013-10-08"}, sequences),
              HasSubstr("give both times, or neither"));
  EXPECT_THAT(refusal({.train_end = "2013-10-09", .valid_end = "2013-10-08"}, sequences),
              HasSubstr("is not before valid_end"));
  EXPECT_THAT(refusal({.train_end = "soon", .valid_end = "2013-10-08"}, sequences),
              HasSubstr("train_end: "));
  EXPECT_THAT(refusal({.train_fraction = 0.7, .valid_fraction = 0.3}, sequences),
              HasSubstr("their sum must be below 1"));
  EXPECT_THAT(refusal({.embargo_minutes = -1}, sequences),
              HasSubstr("embargo_minutes = -1 is outside"));
}

TEST(Split, NothingBehindTheTrainingPartReachesTheNormaliser) {
  Rng rng(2);
  std::vector<market::Bar> bars = test::random_bars(rng, kOpen, 400);
  const auto more = test::random_bars(rng, kOpen + std::chrono::hours{24}, 400);
  bars.insert(bars.end(), more.begin(), more.end());
  for (const std::int64_t cut : {100, 300, 399, 1500, 1700}) {
    const SplitConfig config =
        cut_at(kOpen + minutes{cut}, kOpen + minutes{cut < 1500 ? 1500 : 1760}, 10);
    const auto fitted = [&config](const std::vector<market::Bar>& of) {
      const SequenceSet set = test::build(of, test::tick_labels(5));
      return fit_normalizer(set, make_split(config, set.sequences), 5.0);
    };
    const features::Normalizer clean = fitted(bars);
    EXPECT_LT(clean.fitted_on().last, kOpen + minutes{cut - 10});
    std::vector<market::Bar> poisoned = bars;
    for (market::Bar& bar : poisoned) {
      if (bar.end() < kOpen + minutes{cut - 10}) continue;  // known before the embargo
      for (Price* p : {&bar.open, &bar.high, &bar.low, &bar.close})
        p->nano *= 1 + static_cast<std::int64_t>(rng.below(2));
      bar.high = Price{2 * bar.high.nano};
      bar.low = Price{bar.low.nano / 3};
      bar.volume *= 1000;
    }
    EXPECT_EQ(fitted(poisoned).to_json(), clean.to_json()) << cut;
    // The poison would have been noticed: with a later cut it is.
    poisoned[5].volume += 100'000;
    EXPECT_NE(fitted(poisoned).to_json(), clean.to_json());
  }
}

TEST(Split, ANormaliserSeesEveryTrainingRowOnce) {
  SequenceSet set{.schema = test::counted_schema()};
  set.sequences = {counted_sequence(kOpen, 60, 5),
                   counted_sequence(kOpen + minutes{100}, 50, 5, 100)};
  const Split split =
      make_split(cut_at(kOpen + minutes{120}, kOpen + minutes{135}, 0), set.sequences);
  const features::Normalizer normalizer = fit_normalizer(set, split, 5.0);
  // Rows 0..59 and 100..114 (the label of row 115 would touch the cut).
  EXPECT_EQ(normalizer.fitted_rows(), 75);
  EXPECT_EQ(normalizer.columns()[0].center, 37.0F);
  EXPECT_EQ(normalizer.fitted_on().first, kOpen);
  EXPECT_EQ(normalizer.fitted_on().last, kOpen + minutes{114});
}

}  // namespace
}  // namespace foxhunt::train
