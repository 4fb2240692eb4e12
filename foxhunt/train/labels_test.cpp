#include "foxhunt/train/labels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::train {
namespace {

using std::chrono::minutes;
using testing::ElementsAre;

constexpr Price kTick{250'000'000};
const UnixNanos kFirst = parse_time("2013-10-07T22:01");

/// Closes in ticks and their times, a minute apart.
struct Series {
  std::vector<Price> close;
  std::vector<UnixNanos> at;
  explicit Series(const std::vector<std::int64_t>& ticks) {
    for (std::size_t i = 0; i < ticks.size(); ++i) {
      close.push_back(Price{ticks[i] * kTick.nano});
      at.push_back(kFirst + minutes{i});
    }
  }
  LabelBars bars() const { return {.close = close, .available_at = at, .tick = kTick}; }
};

bundle::LabelConfig in_ticks(std::int64_t horizon, double dead_zone) {
  return {.horizon = horizon,
          .dead_zone = dead_zone,
          .dead_zone_unit = bundle::DeadZoneUnit::kTicks,
          .scale_return = false};
}

Series random_series(Rng& rng, std::size_t n) {
  std::vector<std::int64_t> ticks{6800};
  while (ticks.size() < n)
    ticks.push_back(ticks.back() + static_cast<std::int64_t>(rng.below(7)) - 3);
  return Series(ticks);
}

TEST(Labels, AStepLabelsTheBarsFromHorizonToOneBeforeIt) {
  // The price steps up at bar 6 and stays: with a horizon of 3 exactly the bars 3, 4 and 5 see it.
  const Series series({100, 100, 100, 100, 100, 100, 104, 104, 104, 104, 104, 104});
  const Labels labels = make_labels(in_ticks(3, 1), series.bars());
  EXPECT_THAT(labels.classes, ElementsAre(kFlat, kFlat, kFlat, kUp, kUp, kUp, kFlat, kFlat, kFlat,
                                          kNoClass, kNoClass, kNoClass));
  EXPECT_THAT(labels.valid, ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0));
  // What the last three bars did is known at bar 6, 7 and 8.
  EXPECT_THAT(labels.persistence, ElementsAre(kNoClass, kNoClass, kNoClass, kFlat, kFlat, kFlat,
                                              kUp, kUp, kUp, kFlat, kFlat, kFlat));
}

TEST(Labels, AnImpulseIsSeenOnceFromEachSide) {
  // One bar at another price: up for the bar two before it, down from the impulse itself.
  const Series series({100, 100, 100, 100, 90, 100, 100, 100, 100});
  const Labels labels = make_labels(in_ticks(2, 0), series.bars());
  EXPECT_THAT(labels.classes,
              ElementsAre(kFlat, kFlat, kDown, kFlat, kUp, kFlat, kFlat, kNoClass, kNoClass));
  EXPECT_FLOAT_EQ(labels.value[2], std::log(0.9F));
  EXPECT_FLOAT_EQ(labels.value[4], -std::log(0.9F));
  EXPECT_EQ(labels.value[7], 0.0F);
}

TEST(Labels, AMoveAsLargeAsTheDeadZoneIsFlat) {
  Series series({100, 102, 100, 97, 100});
  const auto classes = [&series](double dead_zone) {
    return make_labels(in_ticks(1, dead_zone), series.bars()).classes;
  };
  EXPECT_THAT(classes(2), ElementsAre(kFlat, kFlat, kDown, kUp, kNoClass));
  EXPECT_THAT(classes(1.99), ElementsAre(kUp, kDown, kDown, kUp, kNoClass));
  EXPECT_THAT(classes(3), ElementsAre(kFlat, kFlat, kFlat, kFlat, kNoClass));
  series.close[1].nano += 1;  // the smallest step over it
  EXPECT_THAT(classes(2), ElementsAre(kUp, kDown, kDown, kUp, kNoClass));
}

TEST(Labels, AnIntervalReachesFromTheDecisionToTheBarThatSettlesIt) {
  Series series({100, 101, 102, 103, 104, 105});
  series.at[4] += minutes{7};  // minutes without a bar are not counted as bars
  series.at[5] += minutes{7};
  const Labels labels = make_labels(in_ticks(2, 0), series.bars());
  EXPECT_THAT(labels.end,
              ElementsAre(kFirst + minutes{2}, kFirst + minutes{3}, kFirst + minutes{11},
                          kFirst + minutes{12}, kNullTime, kNullTime));
}

TEST(Labels, EqualTheDefinitionInFloat64) {
  Rng rng(1);
  const Series series = random_series(rng, 300);
  const bundle::LabelConfig config{.horizon = 7, .dead_zone = 0.5, .volatility_span = 20};
  const Labels labels = make_labels(config, series.bars());
  const auto close = [&](std::size_t i) { return series.close[i].to_double(); };
  int counts[3] = {};
  for (std::size_t t = 0; t < 300; ++t) {
    EXPECT_EQ(labels.valid[t], t >= 20 && t + 7 < 300);
    if (labels.valid[t] == 0) continue;
    double sum = 0;
    for (std::size_t i = t - 19; i <= t; ++i) sum += std::pow(std::log(close(i) / close(i - 1)), 2);
    const double scale = std::sqrt(sum / 20 * 7);
    const double z = std::log(close(t + 7) / close(t)) / scale;
    EXPECT_NEAR(labels.value[t], z, 1e-6 * std::max(1.0, std::abs(z)));  // float
    EXPECT_EQ(labels.classes[t], std::abs(z) <= 0.5 ? kFlat : z > 0 ? kUp : kDown);
    const double past = std::log(close(t) / close(t - 7)) / scale;
    EXPECT_EQ(labels.persistence[t], std::abs(past) <= 0.5 ? kFlat : past > 0 ? kUp : kDown);
    ++counts[labels.classes[t]];
  }
  for (const int count : counts) EXPECT_GT(count, 40);
}

TEST(Labels, RawReturnsNeedNoPast) {
  Rng rng(2);
  const Series series = random_series(rng, 50);
  const Labels labels = make_labels(in_ticks(5, 0), series.bars());
  for (std::size_t t = 0; t + 5 < 50; ++t) {
    EXPECT_EQ(labels.valid[t], 1);
    EXPECT_FLOAT_EQ(labels.value[t], static_cast<float>(std::log(series.close[t + 5].to_double() /
                                                                 series.close[t].to_double())));
  }
  bundle::LabelConfig scaled = in_ticks(5, 0);
  scaled.scale_return = true;  // now the value needs volatility, though the classes do not
  scaled.volatility_span = 30;
  const Labels later = make_labels(scaled, series.bars());
  for (std::size_t t = 0; t < 50; ++t) EXPECT_EQ(later.valid[t], t >= 30 && t < 45);
}

TEST(Labels, ALabelKnowsNothingBeyondItsEndNorBeforeItsVolatility) {
  Rng rng(3);
  const Series series = random_series(rng, 120);
  const bundle::LabelConfig config{.horizon = 5, .volatility_span = 10};
  const Labels clean = make_labels(config, series.bars());
  for (std::size_t t = 10; t + 5 < 120; ++t) {
    Series poisoned = series;
    for (std::size_t i = 0; i < 120; ++i) {
      if (i + 10 < t || i > t + 5)
        poisoned.close[i].nano += 1'000'000'000 * (1 + static_cast<std::int64_t>(rng.below(50)));
    }
    const Labels labels = make_labels(config, poisoned.bars());
    EXPECT_EQ(labels.value[t], clean.value[t]);
    EXPECT_EQ(labels.classes[t], clean.classes[t]);
    EXPECT_EQ(labels.persistence[t], clean.persistence[t]);
  }
}

TEST(Labels, PersistenceKnowsNoBarAfterTheDecision) {
  Rng rng(4);
  const Series series = random_series(rng, 120);
  const bundle::LabelConfig config{.horizon = 5, .volatility_span = 10};
  const Labels clean = make_labels(config, series.bars());
  for (std::size_t t = 10; t < 120; ++t) {
    Series poisoned = series;
    for (std::size_t i = t + 1; i < 120; ++i) {
      poisoned.close[i].nano += 1'000'000'000 * static_cast<std::int64_t>(rng.below(50));
    }
    EXPECT_EQ(make_labels(config, poisoned.bars()).persistence[t], clean.persistence[t]) << t;
  }
}

TEST(Labels, AStandstillIsFlatWithAnyDeadZone) {
  const Series series(std::vector<std::int64_t>(40, 100));
  for (const double dead_zone : {0.0, 0.5}) {
    const Labels labels =
        make_labels({.horizon = 3, .dead_zone = dead_zone, .volatility_span = 10}, series.bars());
    for (std::size_t t = 10; t < 37; ++t) {
      EXPECT_EQ(labels.classes[t], kFlat);
      EXPECT_EQ(labels.value[t], 0.0F);
    }
  }
}

TEST(Labels, ShortSequencesHaveNone) {
  for (const std::size_t n : {0UL, 1UL, 5UL}) {
    const Series series(std::vector<std::int64_t>(n, 100));
    const Labels labels = make_labels(in_ticks(5, 0), series.bars());
    EXPECT_EQ(labels.valid, std::vector<std::uint8_t>(n, 0));
    EXPECT_EQ(labels.persistence.size(), n);
  }
}

TEST(Labels, RefuseWhatCannotBe) {
  const Series series({100, 101});
  EXPECT_THROW(make_labels({.horizon = 0}, series.bars()), ConfigError);
  EXPECT_THROW(make_labels({.dead_zone = -1}, series.bars()), ConfigError);
  EXPECT_THROW(make_labels({.dead_zone = std::nan("")}, series.bars()), ConfigError);
  LabelBars uneven = series.bars();
  uneven.close = uneven.close.first(1);
  EXPECT_THROW(make_labels({}, uneven), ShapeError);
}

}  // namespace
}  // namespace foxhunt::train
