// Barriers and smoothed labels against brute force; purging by the interval that a label has.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/train/labels.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::train {
namespace {

using bundle::LabelConfig;
using bundle::LabelKind;
using testing::ElementsAre;

constexpr Price kTick{250'000'000};

struct Series {
  std::vector<Price> close;
  std::vector<UnixNanos> at;
  LabelBars bars() const { return {.close = close, .available_at = at, .tick = kTick}; }
};

Series in_ticks(const std::vector<std::int64_t>& ticks) {
  Series series;
  for (const std::int64_t tick : ticks) {
    series.at.push_back(parse_time("2013-10-07T22:01") + std::chrono::minutes{series.at.size()});
    series.close.push_back(Price{tick * kTick.nano});
  }
  return series;
}

Series random_series(std::uint64_t seed, std::size_t n) {
  Rng rng(seed);
  std::vector<std::int64_t> ticks{6800};
  while (ticks.size() < n)
    ticks.push_back(ticks.back() + static_cast<std::int64_t>(rng.below(13)) - 6);
  return in_ticks(ticks);
}

/// Root mean square of the one-bar log returns up to t, with a floor of one tick.
double sigma_at(const Series& s, std::size_t t, std::size_t span) {
  double sum = 0;
  for (std::size_t i = t - span + 1; i <= t; ++i) {
    const double r = std::log(s.close[i].to_double() / s.close[i - 1].to_double());
    sum += r * r;
  }
  const auto n = static_cast<double>(span);
  return std::max(std::sqrt(sum / n), 0.25 / s.close[t].to_double() / std::sqrt(n));
}

TEST(BarrierLabels, EqualBruteForceAndEndAtTheFirstTouch) {
  const Series s = random_series(3, 3000);
  const LabelConfig config{.kind = LabelKind::kBarrier,
                           .horizon = 25,
                           .volatility_span = 30,
                           .barrier_up = 0.6,
                           .barrier_down = 0.9};
  const Labels labels = make_labels(config, s.bars());
  std::array<int, 3> seen{};
  int early = 0;
  for (std::size_t t = 0; t < s.close.size(); ++t) {
    if (t < 30 || t + 25 >= s.close.size()) {
      ASSERT_EQ(labels.valid[t], 0) << t;
      ASSERT_TRUE(is_null(labels.end[t]));
      continue;
    }
    const double unit = sigma_at(s, t, 30) * 5;
    // All touches first, then the earliest.
    std::size_t up = t + 26, down = t + 26;
    for (std::size_t j = t + 25; j > t; --j) {
      const double r = std::log(s.close[j].to_double() / s.close[t].to_double());
      if (r >= 0.6 * unit) up = j;
      if (r <= -0.9 * unit) down = j;
    }
    const std::size_t end = std::min({up, down, t + 25});
    const int want = up == down ? kFlat : up < down ? kUp : kDown;
    ASSERT_EQ(labels.classes[t], want) << t;
    ASSERT_EQ(labels.end[t], s.at[end]) << t;
    ASSERT_NEAR(labels.value[t], std::log(s.close[end].to_double() / s.close[t].to_double()) / unit,
                2e-6)
        << t;
    ++seen[static_cast<std::size_t>(want)];
    early += end < t + 25;
    if (t >= 55) {
      ASSERT_EQ(labels.persistence[t], labels.classes[t - 25]) << t;
    }
  }
  for (const int count : seen) EXPECT_GT(count, 100);
  EXPECT_GT(early, 100);
}

TEST(BarrierLabels, Pitfall43APlantedImpulseIsMetWhereItStands) {
  // Steps of one tick up and down: s is one tick, and sqrt(9) = 3 of them reach a barrier.
  std::vector<std::int64_t> ticks;
  for (int i = 0; i < 40; ++i) ticks.push_back(6800 + i % 2);
  for (std::size_t i = 30; i < 40; ++i) ticks[i] += 8;
  const Series s = in_ticks(ticks);
  const Labels labels =
      make_labels({.kind = LabelKind::kBarrier, .horizon = 9, .volatility_span = 10}, s.bars());
  for (std::size_t t = 10; t < 30; ++t) {
    EXPECT_EQ(labels.classes[t], t + 9 >= 30 ? kUp : kFlat) << t;
    EXPECT_EQ(labels.end[t], s.at[std::min<std::size_t>(t + 9, std::max<std::size_t>(t + 1, 30))])
        << t;
  }
}

TEST(SmoothedLabels, EqualBruteForce) {
  const Series s = random_series(8, 2000);
  for (const auto& [h, past, future] :
       {std::array<std::int64_t, 3>{10, 1, 10}, {10, 7, 1}, {12, 5, 4}}) {
    const LabelConfig config{.horizon = h,
                             .dead_zone = 3,
                             .dead_zone_unit = bundle::DeadZoneUnit::kTicks,
                             .volatility_span = 20,
                             .scale_return = false,
                             .smooth_future = future,
                             .smooth_past = past};
    const Labels labels = make_labels(config, s.bars());
    const auto mean = [&](std::size_t last, std::int64_t n) {
      double sum = 0;
      for (std::int64_t i = 0; i < n; ++i)
        sum += s.close[last - static_cast<std::size_t>(i)].to_double();
      return sum / static_cast<double>(n);
    };
    for (std::size_t t = 20; t + static_cast<std::size_t>(h) < s.close.size(); ++t) {
      const std::size_t later = t + static_cast<std::size_t>(h);
      const double from = mean(t, past), to = mean(later, future);
      ASSERT_EQ(labels.valid[t], 1);
      ASSERT_EQ(labels.end[t], s.at[later]);
      // Values are float: 6e-8 of moves up to 0.05.
      ASSERT_NEAR(labels.value[t], std::log(to / from), 1e-8);
      const double ticks = (to - from) / 0.25;
      if (std::abs(std::abs(ticks) - 3) > 1e-6) {
        ASSERT_EQ(labels.classes[t], std::abs(ticks) <= 3 ? kFlat : ticks > 0 ? kUp : kDown);
      }
      ASSERT_NEAR(labels.walk_mean[t], (s.close[t].to_double() - from) / 0.25, 1e-5);
    }
  }
}

TEST(SmoothedLabels, PlainOnesStandAtTheClosesAndCarryNoWalk) {
  const Series s = random_series(8, 500);
  const Labels labels = make_labels({.horizon = 10}, s.bars());
  EXPECT_TRUE(labels.walk_mean.empty());
  for (std::size_t t = 60; t < 490; ++t) {
    const double r = std::log(s.close[t + 10].to_double() / s.close[t].to_double());
    ASSERT_NEAR(labels.value[t], r / (sigma_at(s, t, 60) * std::sqrt(10.0)), 2e-6);
  }
}

TEST(SmoothedLabels, RefuseWhatContradicts) {
  const Series s = random_series(8, 50);
  EXPECT_THROW(make_labels({.horizon = 5, .smooth_future = 6}, s.bars()), ConfigError);
  EXPECT_THROW(make_labels({.kind = LabelKind::kBarrier, .smooth_past = 2}, s.bars()), ConfigError);
}

TEST(BarrierLabels, Pitfall48PurgingFollowsTheIntervalThatTheLabelHas) {
  Rng rng(5);
  const SequenceSet set =
      test::build(test::random_bars(rng, test::kOpen, 900), {.kind = LabelKind::kBarrier,
                                                             .horizon = 60,
                                                             .volatility_span = 20,
                                                             .barrier_up = 0.3,
                                                             .barrier_down = 0.3});
  const Split split = make_split({}, set.sequences);
  int kept_early = 0, purged = 0;
  for (std::size_t i = 0; i < set.sequences.size(); ++i) {
    const Sequence& sequence = set.sequences[i];
    for (std::size_t t = 0; t < sequence.available_at.size(); ++t) {
      const bool valid = sequence.labels.valid[t] != 0;
      const UnixNanos end = valid ? sequence.labels.end[t] : sequence.available_at[t];
      const bool before = sequence.available_at[t] < split.train_end;
      if (!before) continue;
      const bool reaches = end >= split.train_end - split.embargo;
      ASSERT_EQ(split.parts[i][t], reaches ? Part::kPurged : Part::kTrain) << t;
      purged += reaches;
      // One whose barrier is met early stays, though its horizon would reach over the cut.
      kept_early += !reaches && valid && t + 60 < sequence.available_at.size() &&
                    sequence.available_at[t + 60] >= split.train_end - split.embargo;
    }
  }
  EXPECT_GT(purged, 0);
  EXPECT_GT(kept_early, 0);
}

}  // namespace
}  // namespace foxhunt::train
