// Surgery on the state: exact, and refused where it cannot be.
#include "foxhunt/nn/prune_state.h"

#include <gmock/gmock.h>

#include "foxhunt/nn/performance.h"
#include "foxhunt/nn/state_test_tools.h"
#include "foxhunt/nn/state_usage_recorder.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::HeadKind;
using testing::HasSubstr;

/// Columns that differ from layer to layer and group to group.
const ColumnChoice kChoice{{{0, 3, 6}, {1, 2, 7}}, {{2, 4, 5}, {0, 1, 2}}};

/// `model` with every column that is not chosen taken out by hand.
std::shared_ptr<Mamba2SSM> zeroed(const Mamba2SSM& model, const ColumnChoice& choice) {
  auto copy = copy_of(model);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    for (std::size_t g = 0; g < choice[i].size(); ++g) {
      for (std::int64_t n = 0; n < model.config().d_state; ++n) {
        if (std::count(choice[i][g].begin(), choice[i][g].end(), n) == 0)
          scale_column(*copy, static_cast<std::int64_t>(i), static_cast<std::int64_t>(g), n, 0);
      }
    }
  }
  return copy;
}

TEST(PruneState, EqualsTheModelWithTheOtherColumnsAtZero) {
  Rng rng(1);
  for (const HeadKind kind : {HeadKind::kClassification, HeadKind::kQuantiles}) {
    const auto model = random_model(kind, 11);
    const auto pruned = prune_state(*model, kChoice);
    EXPECT_EQ(pruned->config().d_state, 3);
    const Tensor x = random_tensor(rng, {3, 29, 5});
    const at::NoGradGuard no_grad;
    const Tensor expected = zeroed(*model, kChoice)->forward(x);
    // The same products in sums of another length, in float64.
    EXPECT_LT(distance(pruned->forward(x), expected), 1e-13);
    EXPECT_GT(distance(expected, model->forward(x)), 1e-3) << "the cut columns mattered";
    Mamba2State state = pruned->zero_state(3);
    for (std::int64_t t = 0; t < 29; ++t) {
      EXPECT_LT(distance(pruned->step(x.select(1, t), state), expected.select(1, t)), 1e-12);
    }
  }
}

TEST(PruneState, OfDeadColumnsMovesNothing) {
  Rng rng(1);
  const auto model = zeroed(*random_model(HeadKind::kRegression, 12), kChoice);
  const Tensor x = random_tensor(rng, {2, 40, 5});
  StateUsageRecorder recorder(*model, Rng(1));
  recorder.add(x);
  const StateUsage usage = recorder.result();
  EXPECT_EQ(most_important(usage, 3), kChoice) << "the living columns are found";
  const at::NoGradGuard no_grad;
  EXPECT_LT(distance(prune_state(*model, 3, usage)->forward(x), model->forward(x)), 1e-13);
}

TEST(PruneState, WithEveryColumnIsTheModelBitForBit) {
  const auto model = random_model(HeadKind::kClassification, 13);
  const std::vector<std::int64_t> all{0, 1, 2, 3, 4, 5, 6, 7};
  const auto same = prune_state(*model, {{all, all}, {all, all}});
  const auto from = model->named_parameters();
  for (const auto& item : same->named_parameters()) {
    EXPECT_TRUE(same_bits(item.value(), from[item.key()])) << item.key();
    EXPECT_NE(item.value().data_ptr(), from[item.key()].data_ptr());
  }
}

TEST(PruneState, TakesBiasesOfTheProjectionAlongAndLivesWithoutThoseOfTheConvolution) {
  Rng rng(1);
  model::Mamba2Config config = small_model();
  config.proj_bias = true;
  config.conv_bias = false;
  config.has_d = false;
  auto model =
      std::make_shared<Mamba2SSM>(config, head_of(HeadKind::kRegression), at::kCPU, at::kDouble);
  {
    const at::NoGradGuard no_grad;
    for (const Tensor& p : model->parameters()) p.copy_(random_tensor(rng, p.sizes()));
  }
  const ColumnChoice choice{{{1}, {3}}, {{0}, {2}}};
  const auto cut = copy_of(*model);
  const at::NoGradGuard no_grad;
  for (std::size_t i = 0; i < 2; ++i)
    for (std::size_t g = 0; g < 2; ++g)
      for (std::int64_t n = 0; n < 4; ++n)
        if (n != choice[i][g][0])
          cut->layer(static_cast<std::int64_t>(i))
              .conv1d->weight
              .select(0, config.d_inner() + (2 + static_cast<std::int64_t>(g)) * 4 + n)
              .zero_();
  const Tensor x = random_tensor(rng, {2, 20, 5});
  EXPECT_LT(distance(prune_state(*model, choice)->forward(x), cut->forward(x)), 1e-12);
}

TEST(PruneState, LeavesTheCostOfTheSmallerSizes) {
  const auto model = random_model(HeadKind::kClassification, 14);
  const auto pruned = prune_state(*model, kChoice);
  const PerformanceMetrics cost = step_cost(pruned->config(), pruned->head_config(), 8);
  EXPECT_EQ(pruned->performance_metrics().parameters, cost.parameters);
  std::int64_t counted = 0;
  for (const Tensor& p : pruned->parameters()) counted += p.numel();
  EXPECT_EQ(counted, cost.parameters);
  EXPECT_LT(cost.bytes_per_step, model->performance_metrics().bytes_per_step);
}

TEST(PruneState, RefusesChoicesThatFitNoModel) {
  const auto model = random_model(HeadKind::kClassification, 15);
  const auto refused = [&](ColumnChoice choice) {
    return message_of([&] { prune_state(*model, choice); });
  };
  EXPECT_THAT(refused({{{0}, {0}}}), HasSubstr("columns of 1 layers for a model of 2"));
  EXPECT_THAT(refused({{{0}, {0}}, {{0}}}), HasSubstr("layer 1: 1 groups, not 2"));
  EXPECT_THAT(refused({{{0}, {0}}, {{0}, {0, 1}}}), HasSubstr("layer 1: 2 columns in one group"));
  EXPECT_THAT(refused({{{}, {}}, {{}, {}}}), HasSubstr("layer 0: 0 columns"));
  EXPECT_THAT(refused({{{0}, {8}}, {{0}, {0}}}), HasSubstr("within [0, 7]"));
  EXPECT_THAT(refused({{{1, 0}, {0, 1}}, {{0, 1}, {1, 2}}}), HasSubstr("must rise"));
  EXPECT_THAT(refused({{{1, 1}, {0, 1}}, {{0, 1}, {1, 2}}}), HasSubstr("must rise"));
}

}  // namespace
}  // namespace foxhunt::nn
