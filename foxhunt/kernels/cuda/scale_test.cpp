// Sizes that broke other implementations: offsets beyond 32 bits and batches beyond 65,535. No GPU
// and no large memory is needed: pages that nobody touches do not exist.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/cuda/check.h"
#include "foxhunt/kernels/cuda/dispatch.h"
#include "foxhunt/kernels/cuda/host_runner.h"
#include "foxhunt/kernels/cuda/run_trial.h"

namespace foxhunt::kernels::cuda {
namespace {

using FloatRun = TrialRun<float, float, HostMemory>;

/// Address space without memory behind it, until it is written.
class Sparse {
 public:
  explicit Sparse(std::int64_t floats)
      : bytes_(static_cast<std::size_t>(floats) * sizeof(float)),
        base_(::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Sparse() {
    if (there()) ::munmap(base_, bytes_);
  }
  Sparse(const Sparse&) = delete;
  Sparse& operator=(const Sparse&) = delete;

  bool there() const { return base_ != MAP_FAILED; }
  float* floats() const { return static_cast<float*>(base_); }

 private:
  std::size_t bytes_;
  void* base_;
};

TEST(CudaScale, OffsetsBeyond32BitsReachTheirValues) {
  const Shape shape{3, 4, 2, 3, 1, 5};
  const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(1));
  constexpr std::int64_t kRow = (std::int64_t{1} << 32) + 12345;   // elements
  constexpr std::int64_t kToken = (std::int64_t{1} << 28) + 77;
  const std::int64_t width = 2 * 3 + 2 * 5;
  Sparse inputs(3 * kRow);
  Sparse gradients(3 * kRow);
  if (!inputs.there() || !gradients.there()) GTEST_SKIP() << "100 GB of address space refused";

  HostMemory memory;
  HostRunner runner;
  FloatRun dense(trial, memory);
  run_forward(runner, dense.forward());
  run_backward(runner, dense.backward());
  const Answers want = dense.answers();

  FloatRun far(trial, memory);
  ForwardArgs<float, float> forward = far.forward();
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t t = 0; t < 4; ++t) {
      std::copy_n(forward.in.x + row * forward.in.row_stride + t * forward.in.token_stride, width,
                  inputs.floats() + row * kRow + t * kToken);
    }
  }
  const auto spread = [&](Inputs<float, float>& in) {
    in.x = inputs.floats();
    in.B = in.x + 6;
    in.C = in.x + 11;
    in.row_stride = kRow;
    in.token_stride = kToken;
  };
  spread(forward.in);
  run_forward(runner, forward);
  BackwardArgs<float, float> backward = far.backward();
  spread(backward.in);
  float* packed = backward.dx;
  backward.dx = gradients.floats();
  backward.dB = backward.dx + 6;
  backward.dC = backward.dx + 11;
  const std::int64_t row_stride = std::exchange(backward.grad_row_stride, kRow);
  const std::int64_t token_stride = std::exchange(backward.grad_token_stride, kToken);
  run_backward(runner, backward);
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t t = 0; t < 4; ++t) {
      std::copy_n(gradients.floats() + row * kRow + t * kToken, width,
                  packed + row * row_stride + t * token_stride);
    }
  }
  for (const Difference& d : differences(far.answers(), want)) EXPECT_EQ(d.error, 0.0) << d.name;
}

TEST(CudaScale, SeventyThousandRowsEqualTheirHalvesBitForBit) {
  const Shape shape{70000, 8, 2, 2, 1, 1};
  const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(2));
  HostMemory memory;
  FloatRun run(trial, memory);
  HostRunner runner;
  run_forward(runner, run.forward());
  run_backward(runner, run.backward());
  const Answers all = run.answers();
  for (const bool upper : {false, true}) {
    Trial half = trial;
    half.shape.batch = 35000;
    const auto keep = [&](std::vector<double>& values) {
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      values = upper ? std::vector<double>(middle, values.end())
                     : std::vector<double>(values.begin(), middle);
    };
    for (auto* values :
         {&half.x, &half.B, &half.C, &half.dt, &half.state, &half.dy, &half.dfinal_state}) {
      keep(*values);
    }
    FloatRun part(half, memory);
    run_forward(runner, part.forward());
    run_backward(runner, part.backward());
    const Answers got = part.answers();
    Answers want = all;
    for (auto* values : {&want.y, &want.final_state, &want.dx, &want.dB, &want.dC, &want.ddt,
                         &want.dstate}) {
      keep(*values);
    }
    EXPECT_TRUE(got.y == want.y) << upper;
    EXPECT_TRUE(got.final_state == want.final_state) << upper;
    EXPECT_TRUE(got.dx == want.dx) << upper;
    EXPECT_TRUE(got.dB == want.dB) << upper;
    EXPECT_TRUE(got.dC == want.dC) << upper;
    EXPECT_TRUE(got.ddt == want.ddt) << upper;
    EXPECT_TRUE(got.dstate == want.dstate) << upper;
  }
}

}  // namespace
}  // namespace foxhunt::kernels::cuda
