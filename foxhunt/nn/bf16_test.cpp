// Under autocast to bfloat16 the fused block keeps running, with the projections' products in bf16
// and everything between them in float32.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "foxhunt/nn/bf16_test_tools.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/ops/linear.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::Mamba2Config;
using Named = std::vector<std::pair<std::string, Tensor>>;

enum class Path {
  kFloat32,
  kFused,      ///< bf16, block by block
  kComposite,  ///< bf16, layer by layer: our products, LibTorch's operations between them
};

std::vector<Mamba2Config> configs() {
  std::vector<Mamba2Config> all(3);
  all[0].d_model = 64;
  all[0].n_layer = 2;
  all[1] = all[0];
  all[1].d_model = 24;  // 6 heads of 8, 3 groups: widths that no vector divides
  all[1].headdim = 8;
  all[1].ngroups = 3;
  all[1].d_state = 5;
  all[2] = all[1];
  all[2].proj_bias = true;
  all[2].gate_norm = model::GateNorm::kNormFirst;
  return all;
}

model::HeadConfig head() { return {.n_features = 20, .n_classes = 3}; }

std::shared_ptr<Mamba2SSM> random_model(const Mamba2Config& config) {
  Rng rng(17);
  auto model = std::make_shared<Mamba2SSM>(config, head(), at::kCPU);
  const at::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    item.value().add_(random_tensor(rng, item.value().sizes(), at::kFloat) * 0.1);
  }
  return model;
}

Tensor run(Mamba2SSM& model, const Tensor& x, Path path) {
  if (path == Path::kFloat32) return model.forward(x);
  const Bf16Autocast guard;
  ModelTrace trace;
  return model.forward(x, {}, path == Path::kComposite ? &trace : nullptr);
}

/// The answer, and the gradients of everything.
Named everything(Mamba2SSM& model, const Tensor& x, Path path) {
  const Tensor input = x.detach().clone().requires_grad_();
  model.zero_grad();
  const Tensor out = run(model, input, path);
  // Weights that differ place by place, so that no gradient cancels.
  (out * at::arange(out.numel(), out.options()).mul(0.37).sin().view(out.sizes())).sum().backward();
  Named all{{"out", out.detach()}, {"dx", input.grad()}};
  for (const auto& item : model.named_parameters()) {
    all.emplace_back("d " + item.key(), item.value().grad().clone());
  }
  return all;
}

Tensor window(const Mamba2Config& config) {
  Rng rng(static_cast<std::uint64_t>(config.d_model));
  return random_tensor(rng, {5, 61, 20}, at::kFloat);
}

// A bf16 number has 8 bits: rounding is off by 2^-9 = 0.2 % at most and 0.11 % in the mean square.
// Two sides of some sixteen products lie behind a gradient of the first layer: 0.11 % sqrt(32) =
// 0.6 %; 2 % leaves room for differences of larger numbers. A head's two gradients are such
// throughout, sums of all tokens with either sign: 6 %.
TEST(Bf16, AnswersAndGradientsStayWithinTheRoundingOfTheProducts) {
  for (const Mamba2Config& config : configs()) {
    SCOPED_TRACE(config.d_model);
    const auto model = random_model(config);
    const Tensor x = window(config);
    const Named want = everything(*model, x, Path::kFloat32);
    const Named got = everything(*model, x, Path::kFused);
    for (std::size_t i = 0; i < want.size(); ++i) {
      const double off = relative_distance(got[i].second, want[i].second);
      const bool of_heads = want[i].first.ends_with("dt_bias") || want[i].first.ends_with("A_log");
      EXPECT_LT(off, of_heads ? 0.06 : 0.02) << want[i].first;
      EXPECT_EQ(got[i].second.scalar_type(), at::kFloat) << want[i].first;
    }
    EXPECT_GT(relative_distance(got[0].second, want[0].second), 1e-4) << "bf16 must have an effect";
  }
}

// Both round the same numbers, which differ by float32's rounding only: now and then a number falls
// to the other side of a tie and is off by 2^-8. A fifth of bf16's own effect is far above that,
// and far below what one product in another precision would make.
TEST(Bf16, TheFusedBlockIsTheCompositeWithTheSameProducts) {
  for (const Mamba2Config& config : configs()) {
    SCOPED_TRACE(config.d_model);
    const auto model = random_model(config);
    const Tensor x = window(config);
    const Named fused = everything(*model, x, Path::kFused);
    const Named composite = everything(*model, x, Path::kComposite);
    const Named plain = everything(*model, x, Path::kFloat32);
    for (std::size_t i = 0; i < fused.size(); ++i) {
      const double off = relative_distance(fused[i].second, composite[i].second);
      const double effect = relative_distance(plain[i].second, composite[i].second);
      EXPECT_LE(off, 0.2 * effect) << fused[i].first;  // both 0: what no product reaches
    }
  }
}

TEST(Bf16, WithoutGradientsTheAnswerIsTheSame) {
  const auto model = random_model(configs()[0]);
  const Tensor x = window(configs()[0]);
  const Tensor want = run(*model, x, Path::kFused).detach();
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(same_bits(run(*model, x, Path::kFused), want));
}

// Slices of a batch on any number of threads at once: the bits of one thread.
TEST(Bf16, SlicesOnTwoAndThreeThreadsGiveTheBitsOfOne) {
  const Mamba2Config config = configs()[0];
  const Tensor x = window(config);
  const auto in_slices = [&](std::size_t threads) {
    std::vector<Named> results(5);
    std::vector<std::thread> crew;
    for (std::size_t t = 0; t < threads; ++t) {
      crew.emplace_back([&, t] {
        const auto model = random_model(config);
        for (std::size_t i = t; i < results.size(); i += threads) {
          const auto row = static_cast<std::int64_t>(i);
          results[i] = everything(*model, x.slice(0, row, row + 1), Path::kFused);
        }
      });
    }
    for (std::thread& thread : crew) thread.join();
    return results;
  };
  const std::vector<Named> one = in_slices(1);
  for (const std::size_t threads : {2U, 3U}) {
    const std::vector<Named> many = in_slices(threads);
    for (std::size_t i = 0; i < one.size(); ++i) {
      for (std::size_t n = 0; n < one[i].size(); ++n) {
        EXPECT_TRUE(same_bits(many[i][n].second, one[i][n].second))
            << threads << " threads, row " << i << ", " << one[i][n].first;
      }
    }
  }
}

TEST(Bf16, ALinearLayerRoundsItsTwoSidesAndNothingElse) {
  Rng rng(8);
  const Tensor x = random_tensor(rng, {3, 7, 33}, at::kFloat);
  const Tensor weight = random_tensor(rng, {45, 33}, at::kFloat);
  const Tensor bias = random_tensor(rng, {45}, at::kFloat);
  const auto wide = [](const Tensor& t) { return t.to(at::kBFloat16).to(at::kDouble); };
  const Tensor want = at::linear(wide(x), wide(weight), bias.to(at::kDouble));
  const Bf16Autocast guard;
  ASSERT_TRUE(has_linear_kernel(x));
  const Tensor got = linear(x, weight, bias);
  EXPECT_EQ(got.scalar_type(), at::kFloat);
  // A rounding of 6e-8 a term of at most 1: 33 terms, a bias.
  EXPECT_LT(distance(got, want), 6e-8 * 35);
}

}  // namespace
}  // namespace foxhunt::nn
