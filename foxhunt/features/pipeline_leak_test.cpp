// A row is a function of the past alone, and of no more of it than declared. Everything here is bit
// for bit.
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/features/test_bars.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using test::make_pipeline;
using test::push_all;
using test::random_bars;
using test::small_config;

using Rows = std::vector<std::vector<float>>;

const UnixNanos kOpen = parse_time("2013-10-07T22:00");

/// Three sessions of 150 bars, with a hole and a change of contract on the way.
std::vector<Bar> three_sessions(Rng& rng) {
  std::vector<Bar> bars;
  for (int day = 0; day < 3; ++day) {
    const auto more = random_bars(rng, kOpen + std::chrono::hours{24 * day}, 150);
    bars.insert(bars.end(), more.begin(), more.end());
  }
  for (std::size_t i = 60; i < 150; ++i) bars[i].start += std::chrono::minutes{50};
  for (std::size_t i = 220; i < 300; ++i) bars[i].instrument.instrument_id = 8;
  return bars;
}

/// Other content at the same times: another price level, other sizes, now and then unusable.
void poison(std::vector<Bar>& bars, std::size_t from, std::size_t to, Rng& rng) {
  const std::vector<Bar> other = random_bars(rng, kOpen, static_cast<std::int64_t>(to - from));
  const auto level = static_cast<std::int64_t>(1 + rng.below(3));
  for (std::size_t i = from; i < to; ++i) {
    const Bar& source = other[i - from];
    bars[i].open = Price{source.open.nano * level};
    bars[i].high = Price{source.high.nano * level};
    bars[i].low = Price{source.low.nano * level};
    bars[i].close = Price{source.close.nano * level};
    bars[i].volume = source.volume * 1000;
  }
}

TEST(FeatureLeak, PoisoningTheFutureChangesNoRowUpToNow) {
  Rng rng(1);
  const std::vector<Bar> bars = three_sessions(rng);
  FeaturePipeline pipeline = make_pipeline();
  const Rows clean = push_all(pipeline, bars).rows;
  for (std::size_t t = 0; t + 1 < bars.size(); t += 1 + rng.below(7)) {
    std::vector<Bar> poisoned = bars;
    poison(poisoned, t + 1, bars.size(), rng);
    if (rng.below(2) == 0) poisoned[t + 1].close = Price::null();
    pipeline.reset();
    const Rows rows = push_all(pipeline, poisoned).rows;
    ASSERT_TRUE(
        std::equal(clean.begin(), clean.begin() + static_cast<std::ptrdiff_t>(t) + 1, rows.begin()))
        << t;
    // The poison works: something behind t did change.
    if (t + 20 < bars.size()) {
      EXPECT_NE(clean, rows) << t;
    }
  }
}

TEST(FeatureLeak, RowsOfAPrefixAreAPrefixOfTheRows) {
  Rng rng(2);
  const std::vector<Bar> bars = three_sessions(rng);
  FeaturePipeline pipeline = make_pipeline();
  const Rows all = push_all(pipeline, bars).rows;
  for (const std::size_t n : {1UL, 9UL, 60UL, 61UL, 149UL, 150UL, 151UL, 290UL}) {
    pipeline.reset();
    const Rows rows =
        push_all(pipeline, {bars.begin(), bars.begin() + static_cast<std::ptrdiff_t>(n)}).rows;
    EXPECT_TRUE(std::equal(rows.begin(), rows.end(), all.begin())) << n;
  }
}

TEST(FeatureLeak, AColumnDependsOnTheBarsOfItsWarmUpAndOnNoOlderOne) {
  Rng rng(3);
  std::vector<Bar> bars = random_bars(rng, kOpen, 60);
  // No return is 0 at the end: 0 over any volatility is 0.
  bars.back().close = bars.back().high = Price{bars.back().high.nano + 20 * test::kTick};
  FeaturePipeline pipeline = make_pipeline();
  const Schema schema = pipeline.schema();
  const std::vector<float> clean = push_all(pipeline, bars).rows.back();
  const auto last_row = [&pipeline](const std::vector<Bar>& changed) {
    pipeline.reset();
    return push_all(pipeline, changed).rows.back();
  };
  for (std::size_t c = 0; c < schema.columns.size(); ++c) {
    const auto window = static_cast<std::size_t>(schema.columns[c].warm_up);
    for (int trial = 0; trial < 20; ++trial) {
      std::vector<Bar> poisoned = bars;
      poison(poisoned, 0, bars.size() - window, rng);
      EXPECT_EQ(last_row(poisoned)[c], clean[c]) << schema.columns[c].name;
    }
    if (schema.columns[c].warm_up == 1) continue;
    // And the warm-up is no longer than it must be: the oldest bar inside of it counts.
    std::vector<Bar> changed = bars;
    Bar& oldest = changed[bars.size() - window];
    oldest.close = oldest.high = Price{oldest.high.nano + 40 * test::kTick};
    oldest.volume += 10'000;
    EXPECT_NE(last_row(changed)[c], clean[c]) << schema.columns[c].name;
  }
}

TEST(FeatureLeak, AStreamThatBeginsLaterAgreesAfterItsWarmUp) {
  Rng rng(4);
  const std::vector<Bar> bars = random_bars(rng, kOpen, 400);
  for (const FeatureConfig& config : {small_config(), FeatureConfig{}}) {
    FeaturePipeline pipeline = make_pipeline(config);
    const auto warm_up = static_cast<std::size_t>(pipeline.schema().warm_up());
    const Rows all = push_all(pipeline, bars).rows;
    for (const std::size_t from : {1UL, 7UL, 100UL, 333UL}) {
      pipeline.reset();
      const Rows late =
          push_all(pipeline, {bars.begin() + static_cast<std::ptrdiff_t>(from), bars.end()}).rows;
      for (std::size_t i = 0; i < late.size(); ++i) {
        if (i + 1 < warm_up) {
          EXPECT_TRUE(late[i].empty());
        } else {
          EXPECT_EQ(late[i], all[from + i]) << from << " " << i;
        }
      }
    }
  }
}

TEST(FeatureLeak, SessionsDoNotTouchEachOther) {
  Rng rng(5);
  const std::vector<Bar> bars = three_sessions(rng);
  FeaturePipeline pipeline = make_pipeline();
  const Rows clean = push_all(pipeline, bars).rows;
  std::vector<Bar> poisoned = bars;
  poison(poisoned, 0, 300, rng);
  pipeline.reset();
  const Rows rows = push_all(pipeline, poisoned).rows;
  EXPECT_TRUE(std::equal(clean.begin() + 300, clean.end(), rows.begin() + 300));
}

TEST(FeatureLeak, OneByOneEqualsInOneGo) {
  // Two pipelines, one of them with work of another stream in between: no hidden state is shared.
  Rng rng(6);
  const std::vector<Bar> bars = three_sessions(rng);
  FeaturePipeline batch = make_pipeline();
  const Rows want = push_all(batch, bars).rows;
  FeaturePipeline live = make_pipeline();
  FeaturePipeline other = make_pipeline();
  const std::vector<Bar> noise = random_bars(rng, kOpen, static_cast<std::int64_t>(bars.size()));
  for (std::size_t i = 0; i < bars.size(); ++i) {
    push_all(other, {noise[i]});
    EXPECT_EQ(push_all(live, {bars[i]}).rows.at(0), want[i]);
  }
}

}  // namespace
}  // namespace foxhunt::features
