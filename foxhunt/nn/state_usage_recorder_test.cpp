// Importance against taking a column out for real; planted columns; what streaming must not change.
#include "foxhunt/nn/state_usage_recorder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foxhunt/nn/state_test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::HeadKind;

StateUsage usage_of(Mamba2SSM& model, const Tensor& x, const UsageOptions& options = {}) {
  StateUsageRecorder recorder(model, Rng(5), options);
  recorder.add(x);
  return recorder.result();
}

/// The loss that a row gains on average where `other` answers instead of `own`, if `own` is right:
/// the divergence of its probabilities; half the squared move of the answers otherwise.
double divergence(const Tensor& own, const Tensor& other, HeadKind kind) {
  const double rows = static_cast<double>(own.numel() / own.size(-1));
  if (kind == HeadKind::kClassification) {
    const Tensor p = own.log_softmax(-1);
    return (p.exp() * (p - other.log_softmax(-1))).sum().item<double>() / rows;
  }
  return 0.5 * (own - other).square().mean(-1).sum().item<double>() / rows;
}

/// What taking out each column of a layer and group costs.
std::vector<double> brute_force(Mamba2SSM& model, const Tensor& x, std::int64_t layer,
                                std::int64_t group) {
  const at::NoGradGuard no_grad;
  const Tensor own = model.forward(x);
  std::vector<double> costs;
  for (std::int64_t n = 0; n < model.config().d_state; ++n) {
    const auto cut = copy_of(model);
    scale_column(*cut, layer, group, n, 0);
    costs.push_back(divergence(own, cut->forward(x), model.head_config().kind));
  }
  return costs;
}

std::vector<double> importances(const StateUsage& usage, std::size_t layer, std::size_t group) {
  std::vector<double> values;
  for (const ColumnUsage& column : usage.layers[layer].columns[group])
    values.push_back(column.importance);
  return values;
}

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto ranks = [](const std::vector<double>& v) {
    std::vector<double> r;
    for (const double x : v)
      r.push_back(
          static_cast<double>(std::count_if(v.begin(), v.end(), [x](double y) { return y < x; })));
    return r;
  };
  const auto x = ranks(a);
  const auto y = ranks(b);
  const double n = static_cast<double>(x.size());
  double squares = 0;
  for (std::size_t i = 0; i < x.size(); ++i) squares += (x[i] - y[i]) * (x[i] - y[i]);
  return 1 - 6 * squares / (n * (n * n - 1));
}

class EveryHead : public testing::TestWithParam<HeadKind> {};
INSTANTIATE_TEST_SUITE_P(Heads, EveryHead,
                         testing::Values(HeadKind::kClassification, HeadKind::kRegression,
                                         HeadKind::kQuantiles));

TEST_P(EveryHead, ASmallColumnsImportanceIsTheLossThatItsRemovalCosts) {
  Rng rng(2);
  const auto model = random_model(GetParam(), 3);
  for (std::int64_t n = 0; n < 8; ++n) scale_column(*model, 0, 1, n, 0.1);
  const Tensor x = random_tensor(rng, {16, 40, 5});
  const StateUsage usage = usage_of(*model, x, {.piece = 40, .probes = 100});
  const std::vector<double> costs = brute_force(*model, x, 0, 1);
  const std::vector<double> estimates = importances(usage, 0, 1);
  for (std::size_t n = 0; n < 8; ++n) {
    // 16 streams x 100 probes: a standard error of 4 % or a little more, and the column is not
    // infinitely small.
    EXPECT_NEAR(estimates[n] / costs[n], 1, 0.2) << "column " << n;
  }
}

TEST_P(EveryHead, TheRankingIsThatOfTakingColumnsOut) {
  Rng rng(2);
  const auto model = random_model(GetParam(), 4, 16);
  for (std::int64_t layer = 0; layer < 2; ++layer)
    for (std::int64_t group = 0; group < 2; ++group)
      for (std::int64_t n = 0; n < 16; ++n)
        scale_column(*model, layer, group, n, std::exp(rng.uniform(-2, 0.7)));
  const Tensor x = random_tensor(rng, {4, 64, 5});
  const StateUsage usage = usage_of(*model, x, {.piece = 32, .probes = 16});
  for (std::int64_t layer = 0; layer < 2; ++layer) {
    for (std::int64_t group = 0; group < 2; ++group) {
      const std::vector<double> costs = brute_force(*model, x, layer, group);
      const auto estimates =
          importances(usage, static_cast<std::size_t>(layer), static_cast<std::size_t>(group));
      // Neighbours in a ranking of 16 may swap within the estimate's error.
      EXPECT_GT(rank_correlation(estimates, costs), 0.9) << layer << " " << group;
    }
  }
}

TEST_P(EveryHead, ADeadColumnHasNoImportanceAndAnEssentialOneIsFirst) {
  Rng rng(2);
  const auto model = random_model(GetParam(), 5);
  for (std::int64_t n = 0; n < 8; ++n) scale_column(*model, 1, 0, n, n == 5 ? 3.0 : 0.05);
  scale_column(*model, 1, 0, 2, 0);
  const StateUsage usage = usage_of(*model, random_tensor(rng, {2, 50, 5}));
  EXPECT_EQ(usage.layers[1].columns[0][2].importance, 0.0);
  EXPECT_EQ(usage.layers[1].columns[0][2].contribution, 0.0);
  EXPECT_EQ(most_important(usage, 1)[1][0], std::vector<std::int64_t>{5});
  const auto kept = most_important(usage, 7)[1][0];
  EXPECT_EQ(kept, (std::vector<std::int64_t>{0, 1, 3, 4, 5, 6, 7}));
}

TEST(StateUsageRecorder, ARankingOfHeadsIsThatOfSilencingThem) {
  Rng rng(2);
  const auto model = random_model(HeadKind::kRegression, 6);
  // A head's y is silenced behind the state where nothing else mixes heads: without gate norm.
  model::Mamba2Config config = model->config();
  config.gate_norm = model::GateNorm::kNone;
  Mamba2SSM plain(config, model->head_config(), at::kCPU, at::kDouble);
  {
    const at::NoGradGuard no_grad;
    const auto from = model->named_parameters();
    for (auto& item : plain.named_parameters()) item.value().copy_(from[item.key()]);
    for (std::int64_t h = 0; h < 4; ++h)
      plain.layer(0).out_proj->weight.narrow(1, h * 8, 8).mul_(std::pow(3.0, h));
  }
  const Tensor x = random_tensor(rng, {4, 40, 5});
  const StateUsage usage = usage_of(plain, x, {.piece = 40, .probes = 16});
  std::vector<double> estimates, costs;
  const at::NoGradGuard no_grad;
  const Tensor own = plain.forward(x);
  for (std::int64_t h = 0; h < 4; ++h) {
    const auto cut = copy_of(plain);
    cut->layer(0).out_proj->weight.narrow(1, h * 8, 8).zero_();
    costs.push_back(divergence(own, cut->forward(x), HeadKind::kRegression));
    estimates.push_back(usage.layers[0].heads[static_cast<std::size_t>(h)].importance);
  }
  EXPECT_EQ(rank_correlation(estimates, costs), 1);
}

TEST(StateUsageRecorder, SeesTheAnswersAndStepsOfTheModelItself) {
  Rng rng(2);
  const auto model = random_model(HeadKind::kClassification, 7);
  const Tensor x = random_tensor(rng, {2, 37, 5});
  const StateUsage usage = usage_of(*model, x, {.piece = 10, .probes = 1});
  EXPECT_EQ(usage.rows, 74);
  Mamba2State state = model->zero_state(2);
  ModelTrace trace;
  model->forward(x, state, {}, &trace);
  for (std::size_t i = 0; i < 2; ++i) {
    const Tensor energy = trace.layers[i].y.square().sum({0, 1, 3});
    const Tensor shares = energy / energy.sum();
    const Tensor dt = trace.layers[i].dt;
    const Tensor rate = model->layer(static_cast<std::int64_t>(i)).A_log.exp();
    for (std::int64_t h = 0; h < 4; ++h) {
      const HeadUsage& head = usage.layers[i].heads[static_cast<std::size_t>(h)];
      // Two algorithms in float64.
      EXPECT_NEAR(head.energy, shares[h].item<double>(), 1e-12);
      EXPECT_NEAR(head.memory, 1 / (dt.select(2, h).mean() * rate[h]).item<double>(), 1e-10);
      EXPECT_NEAR(head.dt.max, dt.select(2, h).max().item<double>(), 1e-12);
      EXPECT_NEAR(head.dt.min, dt.select(2, h).min().item<double>(), 1e-12);
    }
  }
}

TEST(StateUsageRecorder, PiecesAndBatchesChangeNothingThatIsExact) {
  Rng rng(2);
  const auto model = random_model(HeadKind::kClassification, 8);
  const Tensor x = random_tensor(rng, {3, 30, 5});
  const StateUsage whole = usage_of(*model, x, {.piece = 100, .probes = 1});
  StateUsageRecorder recorder(*model, Rng(9), {.piece = 7, .probes = 2});
  for (std::int64_t b = 0; b < 3; ++b) recorder.add(x.narrow(0, b, 1));
  const StateUsage parts = recorder.result();
  EXPECT_EQ(parts.rows, whole.rows);
  for (std::size_t i = 0; i < 2; ++i) {
    for (std::size_t g = 0; g < 2; ++g)
      for (std::size_t n = 0; n < 8; ++n)
        EXPECT_NEAR(parts.layers[i].columns[g][n].contribution,
                    whole.layers[i].columns[g][n].contribution, 1e-12);
    for (std::size_t h = 0; h < 4; ++h)
      EXPECT_NEAR(parts.layers[i].heads[h].memory, whole.layers[i].heads[h].memory, 1e-9);
  }
}

TEST(StateUsageRecorder, OneSeedGivesOneAnswerAndNoGradientStays) {
  Rng rng(2);
  const auto model = random_model(HeadKind::kClassification, 9);
  const Tensor x = random_tensor(rng, {2, 20, 5});
  const at::NoGradGuard no_grad;  // whatever the caller has set
  const StateUsage a = usage_of(*model, x);
  const StateUsage b = usage_of(*model, x);
  EXPECT_EQ(importances(a, 1, 1), importances(b, 1, 1));
  for (const Tensor& parameter : model->parameters()) EXPECT_FALSE(parameter.grad().defined());
}

TEST(StateUsageRecorder, RefusesAModelWithoutValuesAndOptionsWithoutSense) {
  Mamba2SSM meta(small_model(), head_of(HeadKind::kRegression), at::kMeta);
  EXPECT_THROW(StateUsageRecorder(meta, Rng(1)), DeviceError);
  const auto model = random_model(HeadKind::kRegression, 1);
  EXPECT_THROW(StateUsageRecorder(*model, Rng(1), {.piece = 0}), ConfigError);
  EXPECT_THROW(StateUsageRecorder(*model, Rng(1), {.probes = 0}), ConfigError);
}

}  // namespace
}  // namespace foxhunt::nn
