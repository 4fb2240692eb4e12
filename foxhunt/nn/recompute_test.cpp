// A model that computes its blocks again gives the outputs and gradients of one that keeps them,
// bit for bit where the same kernels run in the same order, and keeps less meanwhile.
#include "foxhunt/nn/ops/recompute.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include "foxhunt/nn/bf16_test_tools.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;

struct Pass {
  Tensor out, dx;
  std::vector<std::pair<std::string, Tensor>> gradients;
};

Pass run(bool again, Kernels kernels, at::ScalarType dtype, const WindowMarks& marks = {}) {
  Rng rng(3);
  Mamba2SSM model(small_model(), head_of(model::HeadKind::kRegression), at::kCPU, dtype);
  model.initialise(5);
  model.use_kernels(kernels);
  model.recompute_blocks(again);
  Tensor x = random_tensor(rng, {3, 21, 5}, dtype);
  x.set_requires_grad(true);
  Pass pass;
  pass.out = model.forward(x, marks);
  pass.out.square().sum().backward();
  pass.dx = x.grad();
  for (const auto& item : model.named_parameters())
    pass.gradients.emplace_back(item.key(), item.value().grad());
  return pass;
}

void expect_same_bits(const Pass& a, const Pass& b) {
  EXPECT_TRUE(same_bits(a.out, b.out));
  EXPECT_TRUE(same_bits(a.dx, b.dx));
  ASSERT_EQ(a.gradients.size(), b.gradients.size());
  for (std::size_t i = 0; i < a.gradients.size(); ++i) {
    ASSERT_TRUE(a.gradients[i].second.defined()) << a.gradients[i].first;
    EXPECT_TRUE(same_bits(a.gradients[i].second, b.gradients[i].second)) << a.gradients[i].first;
  }
}

TEST(Recompute, GivesTheSameBits) {
  at::set_num_threads(1);  // LibTorch's sums then run in one order
  for (const Kernels kernels : {Kernels::kNative, Kernels::kAten}) {
    for (const at::ScalarType dtype : {at::kFloat, at::kDouble}) {
      SCOPED_TRACE(std::string(name_of(kernels)) + " " + at::toString(dtype));
      expect_same_bits(run(true, kernels, dtype), run(false, kernels, dtype));
    }
  }
}

TEST(Recompute, GivesTheSameBitsInBf16AlthoughTheBackwardPassIsOutsideOfAutocast) {
  at::set_num_threads(1);
  for (const Kernels kernels : {Kernels::kNative, Kernels::kAten}) {
    const auto once = [kernels](bool again) {
      Mamba2SSM model(small_model(), head_of(model::HeadKind::kRegression), at::kCPU);
      model.initialise(5);
      model.use_kernels(kernels);
      model.recompute_blocks(again);
      Rng rng(3);
      const Tensor x = random_tensor(rng, {3, 21, 5}, at::kFloat);
      Pass pass;
      {
        const Bf16Autocast autocast;
        pass.out = model.forward(x);
      }
      pass.out.square().sum().backward();
      pass.dx = x;
      for (const auto& item : model.named_parameters())
        pass.gradients.emplace_back(item.key(), item.value().grad());
      return pass;
    };
    const Pass kept = once(false);
    expect_same_bits(once(true), kept);
    // And it is bf16 that both ran in.
    EXPECT_FALSE(same_bits(kept.out, run(false, kernels, at::kFloat).out));
  }
}

TEST(Recompute, TakesMarks) {
  WindowMarks marks;
  marks.lengths = ints({21, 4, 13});
  expect_same_bits(run(true, Kernels::kNative, at::kFloat, marks),
                   run(false, Kernels::kNative, at::kFloat, marks));
}

TEST(Recompute, WithoutGradientsItIsTheFunctionItself) {
  int calls = 0;
  const Tensor weight = at::ones({3}).set_requires_grad(true);
  const auto f = [&](const Tensor& x) {
    ++calls;
    return x * weight;
  };
  {
    const at::NoGradGuard no_grad;
    EXPECT_FALSE(recomputed(at::ones({3}), {weight}, f).requires_grad());
    EXPECT_EQ(calls, 1);
  }
  const Tensor out = recomputed(at::full({3}, 2.0), {weight}, f);
  EXPECT_EQ(calls, 2);
  out.sum().backward();
  EXPECT_EQ(calls, 3);  // once more
  EXPECT_TRUE(at::equal(weight.grad(), at::full({3}, 2.0)));
}

}  // namespace
}  // namespace foxhunt::nn
