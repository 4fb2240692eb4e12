// Columns of a user's library inside of a pipeline.
#include "foxhunt/features/user_columns.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/features/test_plugins.h"
#include "foxhunt/features/test_state.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using test::kExample;
using test::make_pipeline;
using test::plugin;
using test::saved;
using test::with_plugins;
using testing::AllOf;
using testing::HasSubstr;

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(UserColumns, StandBehindFoxhuntsOwnAndSayWhatTheirLibraryComputes) {
  Rng rng(1);
  const std::vector<Bar> bars = test::random_bars(rng, test::kOpen, 300);
  FeaturePipeline own = make_pipeline();
  FeaturePipeline pipeline = make_pipeline(with_plugins({kExample}));
  EXPECT_EQ(pipeline.width(), own.width() + 2);
  EXPECT_EQ(pipeline.schema().warm_up(), 30);
  const test::Outcome plain = test::push_all(own, bars);
  const test::Outcome outcome = test::push_all(pipeline, bars);
  EXPECT_EQ(pipeline.counters().ready, 271);
  for (std::size_t t = 29; t < bars.size(); ++t) {
    const std::vector<float>& row = outcome.rows[t];
    ASSERT_EQ(row.size(), plain.rows[t].size() + 2) << t;
    EXPECT_TRUE(std::equal(plain.rows[t].begin(), plain.rows[t].end(), row.begin())) << t;
    double sum = 0;
    for (std::size_t i = t - 29; i <= t; ++i) {
      const double range = std::log(static_cast<double>(bars[i].high.nano)) -
                           std::log(static_cast<double>(bars[i].low.nano));
      sum += range * range;
    }
    // Logarithms of 1e12 differ from that of a ratio by 1e-15 of about 28, over ranges of 1e-4.
    EXPECT_NEAR(row[row.size() - 2], std::log(std::sqrt(sum / 30 / (4 * std::log(2.0))) / 1e-4),
                1e-6);
    int rises = 0;
    for (std::size_t i = t - 19; i <= t; ++i)
      rises += (bars[i].close > bars[i - 1].close) - (bars[i].close < bars[i - 1].close);
    EXPECT_EQ(row.back(), static_cast<float>(rises)) << t;
  }
}

TEST(UserColumns, RememberNothingOfTheSequenceBefore) {
  Rng rng(2);
  std::vector<Bar> bars = test::random_bars(rng, test::kOpen, 200);
  for (std::size_t i = 100; i < bars.size(); ++i) bars[i].instrument.instrument_id = 8;
  FeaturePipeline both = make_pipeline(with_plugins({kExample}));
  FeaturePipeline second = make_pipeline(with_plugins({kExample}));
  const test::Outcome of_both = test::push_all(both, bars);
  const test::Outcome of_second = test::push_all(second, {bars.begin() + 100, bars.end()});
  EXPECT_EQ(both.counters().new_contract, 1);
  EXPECT_TRUE(std::equal(of_second.rows.begin(), of_second.rows.end(), of_both.rows.begin() + 100));
  both.reset();
  EXPECT_EQ(saved(both), saved(make_pipeline(with_plugins({kExample}))));
  EXPECT_TRUE(test::push_all(both, bars).rows == of_both.rows);
}

TEST(UserColumns, SavedAndRestoredInALibraryLoadedAnewGoOnWithTheSameBits) {
  Rng rng(3);
  const FeatureConfig config = with_plugins({plugin("not_finite"), kExample});
  std::int64_t met = 0;
  for (int trial = 0; trial < 10; ++trial) {
    const std::vector<Bar> bars = test::eventful_bars(rng, 400);
    FeaturePipeline straight = make_pipeline(config);
    const std::size_t cut = rng.below(bars.size());
    test::push_all(straight, {bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(cut)});
    const auto bytes = saved(straight);
    FeaturePipeline copy = straight;
    FeaturePipeline restored = make_pipeline(config);
    restored.load_libraries_anew();
    test::push_all(restored, bars);
    test::restore(restored, bytes);
    EXPECT_EQ(saved(restored), bytes);
    const std::vector<Bar> rest(bars.begin() + static_cast<std::ptrdiff_t>(cut), bars.end());
    const auto want = test::push_all(straight, rest);
    EXPECT_EQ(saved(copy), bytes) << "a copy shares nothing";
    EXPECT_TRUE(test::push_all(restored, rest).rows == want.rows);
    EXPECT_TRUE(test::push_all(copy, rest).rows == want.rows);
    EXPECT_EQ(saved(restored), saved(straight));
    EXPECT_EQ(restored.summary(), straight.summary());
    met += straight.counters().not_finite;
  }
  EXPECT_GT(met, 100);
}

TEST(UserColumns, AStateOfAnotherLibraryIsRefusedByName) {
  FeaturePipeline example = make_pipeline(with_plugins({kExample}));
  const auto bytes = saved(example);
  EXPECT_THAT(test::refusal(make_pipeline(with_plugins({plugin("random")})), bytes),
              AllOf(HasSubstr("library = user_features 1.0 (SHA-256 " + sha256_of_file(kExample)),
                    HasSubstr("library = random 1 (SHA-256")));
  EXPECT_THAT(test::refusal(make_pipeline(), bytes), HasSubstr("version"));
  EXPECT_THAT(test::refusal(example, saved(make_pipeline())), HasSubstr("version"));
  for (std::size_t size = 0; size < bytes.size(); size += 7)
    EXPECT_NE(test::refusal(example, std::span(bytes).first(size)), "") << size;
}

// What was written before there were libraries is read, and written again, byte for byte.
TEST(UserColumns, WithoutThemSettingsSchemaAndStateKeepTheirBytes) {
  const auto hash_of_state = [](const FeaturePipeline& pipeline) {
    Sha256 hash;
    hash.update(std::span<const std::byte>(saved(pipeline)));
    return hash.finish();
  };
  const FeaturePipeline pipeline = make_pipeline(FeatureConfig{});
  EXPECT_EQ(hash_of_state(pipeline),
            "5af1aab4e11c9205ca3271f6affb5fec23ab3c5f5412412b277b924f5821f173");
  EXPECT_EQ(config::hash_of(FeatureConfig{}),
            "452c5421263abcbecce2724dce135d928f0b3c18ba9a4745eaef0b44112dc417");
  EXPECT_EQ(pipeline.schema().hash(),
            "4d6de567a6de44acb3686390a490da5ae1d50c7dd204d1e635b1f558cb81f46d");
  EXPECT_EQ(sha256_of(pipeline.schema().to_json()),
            "71372b7923ff2938ff56a5901c644ec437287ac9b89209ef2aea5a66910466ce");
}

TEST(UserColumns, AValueThatIsNotFiniteTakesTheRowAndIsCountedByColumn) {
  Rng rng(4);
  std::vector<Bar> bars = test::random_bars(rng, test::kOpen, 200);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    bars[i].volume = 2 * (bars[i].volume / 2);
    if (i % 10 == 5) bars[i].high = bars[i].low = bars[i].close = bars[i].open;
    if (i % 20 == 0) bars[i].volume += 1;
  }
  FeaturePipeline pipeline = make_pipeline(with_plugins({plugin("not_finite")}));
  const test::Outcome outcome = test::push_all(pipeline, bars);
  std::int64_t log_range = 0, two = 0;
  for (std::size_t t = 8; t < bars.size(); ++t) {
    const bool flat = bars[t].high == bars[t].low, odd = bars[t].volume % 2 == 1;
    log_range += flat ? 1 : 0;
    two += odd ? 1 : 0;
    EXPECT_EQ(outcome.results[t].status, flat || odd ? Status::kNotFinite : Status::kReady) << t;
    if (outcome.rows[t].empty()) continue;
    EXPECT_EQ(outcome.rows[t].back(), 2.0F);
    EXPECT_EQ(*(outcome.rows[t].end() - 2), 1.0F);
  }
  const PushCounters& c = pipeline.counters();
  ASSERT_GE(log_range, 15);
  EXPECT_EQ(c.warming_up, 8);
  EXPECT_EQ(c.not_finite, log_range + two);
  EXPECT_EQ(c.bars, c.taken());
  EXPECT_EQ(c.unsampled(), 0);
  EXPECT_THAT(pipeline.summary(),
              HasSubstr(fmt::format("{} with a value that is not finite; not finite: log_range {}, "
                                    "two {}",
                                    c.not_finite, log_range, two)));
  EXPECT_THAT(make_pipeline().summary(), testing::Not(HasSubstr("finite")));
  pipeline.reset();
  EXPECT_EQ(saved(pipeline), saved(make_pipeline(with_plugins({plugin("not_finite")}))));
}

TEST(UserColumns, NamesThatAreThereAndOrderBooksAreRefused) {
  EXPECT_THAT(error_of([] { make_pipeline(with_plugins({plugin("taken_name")})); }),
              HasSubstr("column 'volume' of library 'taken_name' is one of foxhunt's already"));
  EXPECT_THAT(
      error_of([] {
        make_pipeline(with_plugins({kExample, kExample}));
      }),
      HasSubstr("column 'range_vol_30' of library 'user_features' is one of user_features"));
  const auto of_book = [] {
    RowPipeline(with_plugins({kExample}), BookFeatureConfig{}, market::Calendar::for_product("ES"),
                market::contract_for_product("ES"));
  };
  EXPECT_THAT(error_of(of_book), AllOf(HasSubstr("[features] plugins"), HasSubstr("[book]")));
}

TEST(UserColumns, PushAllocatesNothing) {
  Rng rng(5);
  const std::vector<Bar> bars = test::eventful_bars(rng, 800);
  FeaturePipeline pipeline = make_pipeline(with_plugins({kExample, plugin("not_finite")}));
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  const std::int64_t before = latency::thread_allocations();
  for (const Bar& bar : bars) pipeline.push_unchecked(bar, row);
  EXPECT_EQ(latency::thread_allocations() - before, 0);
  EXPECT_GT(pipeline.counters().ready, 0);
  EXPECT_GT(pipeline.counters().not_finite, 0);
}

}  // namespace
}  // namespace foxhunt::features
