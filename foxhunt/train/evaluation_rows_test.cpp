#include "foxhunt/train/evaluation_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "foxhunt/train/random_walk.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::train {
namespace {

Dataset dataset_of(const bundle::LabelConfig& label) {
  Rng rng(5);
  Dataset data;
  data.horizon = label.horizon;
  data.set = test::build(test::random_bars(rng, test::kOpen, 1200), label);
  data.split = make_split({}, data.set.sequences);
  return data;
}

TEST(PartRows, SmoothedLabelsAreForecastByTheWalkOfTheirOwnPast) {
  const bundle::LabelConfig label{.horizon = 10,
                                  .dead_zone = 0.2,
                                  .volatility_span = 20,
                                  .smooth_future = 10,
                                  .smooth_past = 10};
  const Dataset data = dataset_of(label);
  const PartRows rows(data, fit_normalizer(data.set, data.split, 5), Part::kTest);
  const auto labels = rows.evaluation_rows().labels;
  model::HeadConfig head{.kind = model::HeadKind::kClassification};
  head.n_classes = 3;
  const evaluation::Forecasts walk = rows.random_walk(head, label.dead_zone);
  EXPECT_EQ(walk.name, "random-walk");
  ASSERT_EQ(walk.values.size(), labels.size() * 3);
  ASSERT_GT(labels.size(), 100U);
  std::size_t at = 0, hits = 0;
  std::array<std::size_t, 3> counts{};
  for (std::size_t s = 0; s < data.set.sequences.size(); ++s) {
    const Labels& own = data.set.sequences[s].labels;
    for (std::size_t t = 0; t < own.valid.size(); ++t) {
      if (data.split.parts[s][t] != Part::kTest || own.valid[t] == 0) continue;
      const WalkForecast want = walk_forecast(static_cast<double>(own.walk_mean[t]),
                                              static_cast<double>(own.walk_sd[t]), 0.2);
      const double* got = &walk.values[at * 3];
      ASSERT_EQ(got[0], want.down);
      ASSERT_EQ(got[1], want.flat);
      ASSERT_EQ(got[2], want.up);
      hits += std::max_element(got, got + 3) - got == labels[at];
      ++counts[static_cast<std::size_t>(labels[at])];
      ++at;
    }
  }
  EXPECT_EQ(at, labels.size());
  // These bars are a random walk: what smoothing gives away beats the most frequent class.
  EXPECT_GT(hits, *std::ranges::max_element(counts));
}

TEST(PartRows, QuantilesOfTheWalkStandAroundItsMean) {
  const bundle::LabelConfig label{
      .kind = bundle::LabelKind::kReturn, .horizon = 10, .volatility_span = 20, .smooth_past = 5};
  const Dataset data = dataset_of(label);
  const PartRows rows(data, fit_normalizer(data.set, data.split, 5), Part::kTest);
  const evaluation::Forecasts mean =
      rows.random_walk({.kind = model::HeadKind::kRegression}, label.dead_zone);
  model::HeadConfig head{.kind = model::HeadKind::kQuantiles};
  head.quantiles = {0.1, 0.5, 0.9};
  const evaluation::Forecasts walk = rows.random_walk(head, label.dead_zone);
  ASSERT_EQ(walk.values.size(), mean.values.size() * 3);
  const auto outcomes = rows.evaluation_rows().outcomes;
  double below = 0;
  for (std::size_t i = 0; i < mean.values.size(); ++i) {
    ASSERT_NEAR(walk.values[3 * i + 1], mean.values[i], 1e-9);
    ASSERT_NEAR(walk.values[3 * i] + walk.values[3 * i + 2], 2 * mean.values[i], 1e-9);
    below += outcomes[i] < walk.values[3 * i + 2];
  }
  // Nine tenths, of some tens of labels that do not overlap.
  EXPECT_NEAR(below / static_cast<double>(outcomes.size()), 0.9, 0.15);
}

}  // namespace
}  // namespace foxhunt::train
