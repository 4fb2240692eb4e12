// A stream that is cut between two bars, saved and restored goes on with the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/features/test_state.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using test::eventful_bars;
using test::kOpen;
using test::make_pipeline;
using test::refusal;
using test::restore;
using test::saved;
using test::small_config;

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

}  // namespace
}  // namespace foxhunt::features
