// A stream that is cut between two bars, saved and restored goes on with the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>
#include <tuple>

#include "foxhunt/base/error.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/features/test_bars.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using std::chrono::minutes;
using test::make_pipeline;
using test::small_config;

constexpr const char* kPart = "features.pipeline";
const UnixNanos kOpen = parse_time("2013-10-07T22:00");  // of the session of 2013-10-08

std::vector<std::byte> saved(const FeaturePipeline& pipeline) {
  ByteWriter out;
  pipeline.save(out);
  return out.take();
}

void restore(FeaturePipeline& pipeline, std::span<const std::byte> bytes) {
  ByteReader in(bytes, "a.state");
  pipeline.restore(in);
  in.finish();
}

std::string refusal(FeaturePipeline pipeline, std::span<const std::byte> bytes) {
  const auto before = saved(pipeline);
  try {
    restore(pipeline, bytes);
  } catch (const FormatError& error) {
    EXPECT_EQ(saved(pipeline), before);
    return error.what();
  }
  return "";
}

/// Everything that can be seen of a push, as bits.
struct Seen {
  Status status{};
  bool starts_sequence = false;
  std::vector<std::uint32_t> row;  ///< empty where it is not ready
  std::string counters;
  std::int64_t sequences_by_cause[4]{};
  market::Session session;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> push_all(FeaturePipeline& pipeline, std::span<const Bar> bars) {
  std::vector<Seen> all;
  all.reserve(bars.size());
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (const Bar& bar : bars) {
    const PushResult result = pipeline.push(bar, row);
    const PushCounters& c = pipeline.counters();
    Seen seen{.status = result.status,
              .starts_sequence = result.starts_sequence,
              .row = {},
              .counters = c.summary(),
              .sequences_by_cause = {c.new_session, c.new_contract, c.after_halt, c.long_gap},
              .session = pipeline.session()};
    if (result.status == Status::kReady) {
      seen.row.resize(row.size());
      std::memcpy(seen.row.data(), row.data(), row.size() * sizeof(float));
    }
    all.push_back(std::move(seen));
  }
  return all;
}

/// Days of bars with everything that happens to a stream: breaks, halts, holes, other contracts,
/// duplicates, steps back, bad bars of each kind.
std::vector<Bar> eventful_bars(Rng& rng, std::int64_t n) {
  UnixNanos at = kOpen - minutes{5};
  std::vector<Bar> bars = test::random_bars(rng, at, n);
  std::uint32_t contract = 7;
  for (std::size_t i = 0; i < bars.size(); ++i) {
    Bar& bar = bars[i];
    at += minutes{1};
    const std::uint64_t event = rng.below(120);
    if (event == 0) at += minutes{1 + rng.below(90)};  // a hole, long or not
    if (event == 1) at += std::chrono::hours{20};      // another session
    if (event == 2) at = parse_time("2013-10-08T20:05") + std::chrono::hours{24 * rng.below(4)};
    if (event == 3) ++contract;
    bar.start = at;
    bar.instrument.instrument_id = contract;
    if (event == 4 && i > 0) bar = bars[i - 1];
    if (event == 5) bar.start -= minutes{3};
    if (event == 6) bar.close = Price::null();
    if (event == 7) bar.low = Price{-5};
    if (event == 8) std::swap(bar.high, bar.low), bar.high.nano -= 1;
    if (event == 9) bar.span = minutes{5};
    if (event == 10) bar.volume = ~std::uint64_t{0} - rng.below(2);
  }
  return bars;
}

void expect_a_cut_changes_nothing(const FeatureConfig& config, std::span<const Bar> bars,
                                  std::size_t cut) {
  FeaturePipeline straight = make_pipeline(config);
  push_all(straight, bars.first(cut));
  const auto bytes = saved(straight);
  FeaturePipeline copy = straight;
  FeaturePipeline assigned = make_pipeline();
  assigned = straight;
  FeaturePipeline fresh = make_pipeline(config);
  restore(fresh, bytes);
  FeaturePipeline used = make_pipeline(config);  // what it remembered of its own stream is gone
  push_all(used, bars.subspan(bars.size() / 3));
  restore(used, bytes);
  EXPECT_EQ(saved(fresh), bytes) << cut;
  EXPECT_EQ(fresh.session(), straight.session()) << cut;

  const auto want = push_all(straight, bars.subspan(cut));
  EXPECT_EQ(saved(copy), bytes) << "what went into the original went into its copy, at " << cut;
  EXPECT_TRUE(push_all(fresh, bars.subspan(cut)) == want) << cut;
  EXPECT_TRUE(push_all(used, bars.subspan(cut)) == want) << cut;
  EXPECT_TRUE(push_all(copy, bars.subspan(cut)) == want) << cut;
  EXPECT_TRUE(push_all(assigned, bars.subspan(cut)) == want) << cut;
  EXPECT_EQ(saved(fresh), saved(straight)) << cut;
}

TEST(PipelineState, ACutAnywhereInAnEventfulStreamChangesNoBit) {
  Rng rng(1);
  PushCounters met;
  for (int trial = 0; trial < 20; ++trial) {
    const std::vector<Bar> bars = eventful_bars(rng, 400);
    const FeatureConfig configs[] = {
        small_config(),
        // Windows of one length, one longer than the other, and no returns at all.
        {.return_spans = {1, 40}, .volatility_spans = {2}, .volume_span = 3},
        {.return_spans = {}, .volatility_spans = {3, 5, 20}, .volume_span = 30}};
    for (const FeatureConfig& config : configs) {
      for (int k = 0; k < 4; ++k) {
        expect_a_cut_changes_nothing(config, bars, rng.below(bars.size() + 1));
      }
    }
    FeaturePipeline pipeline = make_pipeline();
    push_all(pipeline, bars);
    const PushCounters& c = pipeline.counters();
    met.ready += c.ready;
    for (const auto counter :
         {&PushCounters::closed, &PushCounters::null_value, &PushCounters::non_positive_price,
          &PushCounters::inconsistent_ohlc, &PushCounters::other_length, &PushCounters::duplicates,
          &PushCounters::out_of_order, &PushCounters::new_session, &PushCounters::new_contract,
          &PushCounters::after_halt, &PushCounters::long_gap}) {
      met.*counter += pipeline.counters().*counter;
      if (trial == 19) {
        EXPECT_GT(met.*counter, 0);  // the streams are as eventful as they claim
      }
    }
  }
  EXPECT_GT(met.ready, 1000);
}

TEST(PipelineState, ACutAtEveryBarOfAWarmUpChangesNoBit) {
  Rng rng(2);
  const std::vector<Bar> bars = test::random_bars(rng, kOpen, 40);
  for (std::size_t cut = 0; cut <= bars.size(); ++cut) {
    expect_a_cut_changes_nothing(small_config(), bars, cut);
  }
}

TEST(PipelineState, ACutAnywhereInTheSampleOfEsChangesNoBit) {
  const auto reader = market::open_reader("data/es-sample/es-ohlcv-1m.dbn.zst");
  std::vector<Bar> bars;
  while (const market::Record* record = reader->next()) bars.push_back(std::get<Bar>(*record));
  ASSERT_EQ(bars.size(), 19'083U);
  FeaturePipeline straight = make_pipeline(FeatureConfig{});
  const auto want = push_all(straight, bars);
  Rng rng(3);
  // One stream that is stopped and started again 60 times.
  std::vector<std::size_t> cuts{0, bars.size()};
  for (int k = 0; k < 60; ++k) cuts.push_back(rng.below(bars.size() + 1));
  std::ranges::sort(cuts);
  std::vector<std::byte> bytes = saved(make_pipeline(FeatureConfig{}));
  for (std::size_t k = 0; k + 1 < cuts.size(); ++k) {
    FeaturePipeline fresh = make_pipeline(FeatureConfig{});
    restore(fresh, bytes);
    const auto got = push_all(fresh, std::span(bars).subspan(cuts[k], cuts[k + 1] - cuts[k]));
    ASSERT_TRUE(
        std::equal(got.begin(), got.end(), want.begin() + static_cast<std::ptrdiff_t>(cuts[k])))
        << cuts[k];
    bytes = saved(fresh);
  }
  EXPECT_EQ(bytes, saved(straight));
}

TEST(PipelineState, EqualStreamsGiveEqualBytesWhateverCameBefore) {
  Rng rng(4);
  const std::vector<Bar> bars = test::random_bars(rng, kOpen, 50);
  FeaturePipeline used = make_pipeline();
  push_all(used, eventful_bars(rng, 300));
  used.reset();
  EXPECT_EQ(saved(used), saved(make_pipeline()));
  push_all(used, bars);
  FeaturePipeline fresh = make_pipeline();
  push_all(fresh, bars);
  EXPECT_EQ(saved(used), saved(fresh));
}

TEST(PipelineState, PartsFollowOneAnotherInOneFile) {
  Rng rng(5);
  FeaturePipeline first = make_pipeline();
  push_all(first, test::random_bars(rng, kOpen, 30));
  FeaturePipeline second = make_pipeline(FeatureConfig{});
  ByteWriter out;
  first.save(out);
  second.save(out);
  FeaturePipeline a = make_pipeline();
  FeaturePipeline b = make_pipeline(FeatureConfig{});
  ByteReader in(out.bytes(), "a.state");
  a.restore(in);
  b.restore(in);
  in.finish();
  EXPECT_EQ(saved(a), saved(first));
  EXPECT_EQ(saved(b), saved(second));
}

TEST(PipelineState, RefusesTheStateOfAnotherPipelineNamingBothSides) {
  const auto bytes = saved(make_pipeline());
  using testing::AllOf;
  using testing::HasSubstr;
  EXPECT_THAT(refusal(make_pipeline(small_config(), "NQ"), bytes),
              AllOf(HasSubstr("a.state: features.pipeline"),
                    HasSubstr("there product = 'ES', calendar = 'ES'"),
                    HasSubstr("here product = 'NQ', calendar = 'NQ'")));
  EXPECT_THAT(refusal(make_pipeline(small_config(), "ZN"), bytes),
              AllOf(HasSubstr("tick = 250000000 * 1e-9"), HasSubstr("tick = 15625000 * 1e-9")));
  FeatureConfig spans = small_config();
  spans.volatility_spans = {4, 9};
  EXPECT_THAT(refusal(make_pipeline(spans), bytes),
              AllOf(HasSubstr("volatility_spans = [4, 8]"), HasSubstr("volatility_spans = [4, 9]"),
                    HasSubstr(make_pipeline().schema().hash()),
                    HasSubstr(make_pipeline(spans).schema().hash()),
                    testing::Not(HasSubstr("return_spans"))));
  // Of what the schema does not tell, too.
  FeatureConfig gap = small_config();
  gap.max_gap_minutes = 31;
  EXPECT_THAT(refusal(make_pipeline(gap), bytes),
              AllOf(HasSubstr("there max_gap_minutes = 30; here max_gap_minutes = 31")));
}

/// A state and its payload, to be written anew with changes.
std::vector<std::byte> payload_of(std::span<const std::byte> bytes) {
  ByteReader in(bytes, "");
  ByteReader part = read_part(in, kPart, 1);
  const auto payload = part.raw(part.remaining());
  return {payload.begin(), payload.end()};
}

std::vector<std::byte> sealed(std::span<const std::byte> payload, std::uint32_t version = 1) {
  ByteWriter out;
  write_part(out, kPart, version, payload);
  return out.take();
}

/// In the middle of a sequence behind its warm-up, with ignored bars of many kinds behind it.
FeaturePipeline busy_pipeline() {
  Rng rng(6);
  FeaturePipeline pipeline = make_pipeline();
  std::vector<Bar> bars = eventful_bars(rng, 300);
  for (Bar& bar : bars) bar.start -= std::chrono::hours{24 * 10};
  push_all(pipeline, bars);
  push_all(pipeline, test::random_bars(rng, kOpen + std::chrono::hours{24 * 6}, 50));
  return pipeline;
}

TEST(PipelineState, RefusesAnotherVersionByName) {
  const auto payload = payload_of(saved(busy_pipeline()));
  EXPECT_EQ(refusal(make_pipeline(), sealed(payload, 1)), "");
  EXPECT_THAT(refusal(make_pipeline(), sealed(payload, 2)),
              testing::HasSubstr("'features.pipeline' is of version 2, but this program reads "
                                 "version 1"));
}

TEST(PipelineState, EveryTruncationAndEveryDamagedByteIsRefusedAndChangesNothing) {
  const auto bytes = saved(busy_pipeline());
  Rng rng(7);
  FeaturePipeline pipeline = make_pipeline();
  push_all(pipeline, test::random_bars(rng, kOpen, 30));
  const auto before = saved(pipeline);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(restore(pipeline, std::span(bytes).first(n)), FormatError) << n;
    auto damaged = bytes;
    damaged[n] ^= std::byte{1} << rng.below(8);
    EXPECT_THROW(restore(pipeline, damaged), FormatError) << n;
  }
  EXPECT_EQ(saved(pipeline), before);
}

TEST(PipelineState, EveryTruncationOfAForgedPayloadIsRefused) {
  const auto payload = payload_of(saved(busy_pipeline()));
  for (std::size_t n = 0; n < payload.size(); ++n) {
    EXPECT_NE(refusal(make_pipeline(), sealed(std::span(payload).first(n))), "") << n;
  }
}

TEST(PipelineState, ForgedPayloadsAreRefusedOrGoOnWithoutHarm) {
  // Correct sums over wrong values: what is loaded must be a state that a stream could have left.
  const auto payload = payload_of(saved(busy_pipeline()));
  ByteReader head(payload, "");
  head.text();
  const std::size_t behind_identity = head.position();
  Rng rng(8);
  std::vector<Bar> bars =
      test::random_bars(rng, kOpen + std::chrono::hours{24 * 6} + minutes{50}, 30);
  bars[5].close = Price::null();
  bars[20].instrument.instrument_id = 9;
  FeaturePipeline pipeline = make_pipeline();
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  int loaded = 0;
  std::int64_t ready = 0;
  for (int trial = 0; trial < 10'000; ++trial) {
    std::vector<std::byte> forged = payload;
    for (std::uint64_t k = 1 + rng.below(2); k > 0; --k) {
      const std::size_t at = behind_identity + rng.below(forged.size() - behind_identity);
      if (rng.below(2) == 0) {
        forged[at] = static_cast<std::byte>(rng.below(256));
      } else {  // values at the edges
        const std::int64_t edges[] = {0, 1, -1, INT64_MIN, INT64_MAX, INT64_MAX - 1};
        std::memcpy(&forged[at], &edges[rng.below(6)],
                    std::min<std::size_t>(8, forged.size() - at));
      }
    }
    const auto bytes = sealed(forged);
    const auto before = saved(pipeline);
    try {
      restore(pipeline, bytes);
    } catch (const FormatError&) {
      EXPECT_EQ(saved(pipeline), before);
      continue;
    }
    ++loaded;
    EXPECT_EQ(saved(pipeline), bytes);  // nothing was read over
    for (const Bar& bar : bars) {
      if (pipeline.push(bar, row).status != Status::kReady) continue;
      ++ready;
      for (const float value : row) ASSERT_TRUE(std::isfinite(value)) << trial;
    }
  }
  EXPECT_GT(loaded, 500);  // other closes, squares and volumes: no rule could know them
  EXPECT_LT(loaded, 9'000);
  EXPECT_GT(ready, 1'000);
}

TEST(PipelineState, RefusesValuesThatNoStreamLeavesBehind) {
  const auto payload = payload_of(saved(busy_pipeline()));
  ByteReader head(payload, "");
  head.text();
  const std::size_t counters = head.position() + 8;
  const std::size_t has_last = counters + 16 * 8;
  const std::size_t start = has_last + 1 + 6;
  const std::size_t open = start + 16;
  const std::size_t bars = open + 4 * 8 + 8;
  const std::size_t closes = bars + 8 + 8;           // 3 of them
  const std::size_t squares = closes + 3 * 8 + 8;    // 8
  const std::size_t volumes = squares + 8 * 16 + 8;  // 5
  ASSERT_EQ(payload.size(), volumes + 5 * 16);
  const auto with = [&payload](std::size_t at, std::int64_t value) {
    auto forged = payload;
    std::memcpy(&forged[at], &value, 8);
    return refusal(make_pipeline(), sealed(forged));
  };
  const std::int64_t huge = (std::int64_t{1} << 43) + 1;
  for (const auto& [at, value, rule] :
       std::initializer_list<std::tuple<std::size_t, std::int64_t, const char*>>{
           {counters, -1, "counter 0 is -1"},
           {counters + 8, INT64_MAX, "counter 1 is"},
           {counters, 7, "the counters contradict each other"},
           {counters + 11 * 8, 0, "the counters contradict each other"},
           {start, INT64_MIN, "the last bar is none that the pipeline takes"},
           {start, INT64_MAX, "the last bar is none that the pipeline takes"},
           {start, count(parse_time("2013-10-12T12:00")),
            "2013-10-12T12:00:00Z, lies in no session"},
           {start + 8, 1, "the last bar is none that the pipeline takes"},
           {open, 0, "the last bar is none that the pipeline takes"},
           {bars, 0, "a sequence of 0 bars"},
           {bars, -1, "a sequence of -1 bars"},
           {bars, 51, "a sequence of 51 bars; 50 fit into the session"},
           {bars, INT64_MAX, "a sequence of 9223372036854775807 bars"},
           {bars, 3, "a list of 3 values, expected 2"},
           {closes, 0, "a close of 0"},
           {closes + 16, Price::kNullNano, "a close of"},
           {squares, huge, "a value of a sliding mean is too large"},
           {volumes + 4 * 16, -1, "a value of a sliding mean is too large"}}) {
    EXPECT_THAT(with(at, value), testing::HasSubstr(rule)) << at - counters << " " << value;
  }
  auto without_last = std::vector<std::byte>(
      payload.begin(), payload.begin() + static_cast<std::ptrdiff_t>(has_last));
  without_last.push_back(std::byte{0});
  EXPECT_THAT(refusal(make_pipeline(), sealed(without_last)),
              testing::HasSubstr("bars were taken, but there is no last bar"));
  auto longer = payload;
  longer.push_back(std::byte{0});
  EXPECT_THAT(refusal(make_pipeline(), sealed(longer)), testing::HasSubstr("1 bytes too many"));
}

}  // namespace
}  // namespace foxhunt::features
