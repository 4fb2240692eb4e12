// The comparison of back ends must see a difference and never compare a back end with itself under
// another's name.
#include "foxhunt/nn/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using testing::HasSubstr;

CheckOptions small(Kernels a, Kernels b) {
  return {.a = a, .b = b, .device = {}, .batch = 2, .tokens = 20, .seed = 3, .segments = true};
}

TEST(CheckBackends, OneBackEndAgainstItselfIsExactInEveryTensor) {
  const BackendCheck check = check_backends(small_model(), head_of(model::HeadKind::kRegression),
                                            small(Kernels::kAten, Kernels::kAten));
  EXPECT_EQ(check.relative_error(), 0.0);
  // Answer, 2 states, rows, answer and states of steps; gradients of 2 x 8 + 2 + norm_f + head.
  EXPECT_EQ(check.tensors.size(), 7U + 23U);
  for (const TensorCheck& t : check.tensors) {
    EXPECT_GT(t.largest, 0.0) << t.name;
    EXPECT_EQ(t.histogram.front(), t.values) << t.name;
  }
}

TEST(CheckBackends, NativeAndAtenDifferByRoundingOnly) {
  const BackendCheck check = check_backends(small_model(), head_of(model::HeadKind::kRegression),
                                            small(Kernels::kAten, Kernels::kNative));
  EXPECT_GT(check.relative_error(), 0.0) << "one back end under two names";
  EXPECT_LT(check.relative_error(), 2e-5);  // float32 over two layers, as in backend_test.cpp
}

TEST(CheckBackends, AGpuThatIsNotThereIsRefused) {
  if (cuda_report().available) GTEST_SKIP() << "there is a GPU";
  CheckOptions options = small(Kernels::kAten, Kernels::kNative);
  options.device = parse_device("cuda");
  EXPECT_THAT(message_of([&] {
                check_backends(small_model(), head_of(model::HeadKind::kRegression), options);
              }),
              HasSubstr("cuda:0"));
}

TEST(CheckBackends, EmptyWindowsAreRefused) {
  CheckOptions options = small(Kernels::kAten, Kernels::kAten);
  options.tokens = 0;
  EXPECT_THAT(message_of([&] {
                check_backends(small_model(), head_of(model::HeadKind::kRegression), options);
              }),
              HasSubstr("2 windows of 0 tokens"));
}

}  // namespace
}  // namespace foxhunt::nn
