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
  // In elements.
  constexpr std::int64_t kRow = (std::int64_t{1} << 32) + 12345;
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

/// Rows first .. first + count of `trial`, run alone, against the answers of all rows.
void expect_same_rows(const Trial& trial, const Answers& all, std::int64_t first,
                      std::int64_t count) {
  const auto keep = [&](std::vector<double>& values) {
    const auto per_row = static_cast<std::ptrdiff_t>(values.size()) / trial.shape.batch;
    const auto start = values.begin() + first * per_row;
    values = std::vector<double>(start, start + count * per_row);
  };
  Trial some = trial;
  some.shape.batch = count;
  for (auto* values :
       {&some.x, &some.B, &some.C, &some.dt, &some.state, &some.dy, &some.dfinal_state}) {
    keep(*values);
  }
  Answers want = all;
  for (auto* values :
       {&want.y, &want.final_state, &want.dx, &want.dB, &want.dC, &want.ddt, &want.dstate}) {
    keep(*values);
  }
  HostMemory memory;
  const HostRunner runner;
  FloatRun run(some, memory);
  run_forward(runner, run.forward());
  run_backward(runner, run.backward());
  const Answers got = run.answers();
  EXPECT_TRUE(got.y == want.y) << first;  // no printing of thousands
  EXPECT_TRUE(got.final_state == want.final_state) << first;
  EXPECT_TRUE(got.dx == want.dx) << first;
  EXPECT_TRUE(got.dB == want.dB) << first;
  EXPECT_TRUE(got.dC == want.dC) << first;
  EXPECT_TRUE(got.ddt == want.ddt) << first;
  EXPECT_TRUE(got.dstate == want.dstate) << first;
}

Answers answers_of(const Trial& trial) {
  HostMemory memory;
  const HostRunner runner;
  FloatRun run(trial, memory);
  run_forward(runner, run.forward());
  run_backward(runner, run.backward());
  return run.answers();
}

/// Runs only the blocks of some rows of a batch: the others would do the same.
struct SomeRows {
  std::int64_t batch;
  std::vector<std::pair<std::int64_t, std::int64_t>> rows;  ///< first, behind the last

  template <class Algorithm>
  void run(const typename Algorithm::Args& args) const {
    const std::int64_t items = Algorithm::items(args);
    // One item more on either side: the last item of all may be a part of one.
    const auto item = [&](std::int64_t row) { return items * row / batch; };
    for (const auto& [first, last] : rows)
      HostRunner().run_items<Algorithm>(args, std::max<std::int64_t>(0, item(first) - 1),
                                        std::min(items, item(last) + 1), 1);
  }
};

TEST(CudaScale, SeventyThousandRowsEqualPartsOfThemBitForBit) {
  const Trial trial = make_trial({70000, 8, 2, 3, 1, 2}, Grid::kFloat, {}, Rng(2));
  const SomeRows runner{70000, {{0, 50}, {65500, 65600}, {69950, 70000}}};
  HostMemory memory;
  FloatRun run(trial, memory);
  run_forward(runner, run.forward());
  run_backward(runner, run.backward());
  const Answers all = run.answers();
  expect_same_rows(trial, all, 0, 50);
  expect_same_rows(trial, all, 65510, 80);
  expect_same_rows(trial, all, 69960, 40);
}

TEST(CudaScaleLong, SeventyThousandRowsEqualTheirHalvesBitForBit) {
  const Trial trial = make_trial({70000, 8, 2, 3, 1, 2}, Grid::kFloat, {}, Rng(3));
  const Answers all = answers_of(trial);
  expect_same_rows(trial, all, 0, 35000);
  expect_same_rows(trial, all, 35000, 35000);
}

TEST(CudaScale, NoGridDependsOnMoreThanItsOneAxis) {
  EXPECT_EQ(grid_size(70000), 70000);
  EXPECT_EQ(grid_size(kMaxGrid), kMaxGrid);
  EXPECT_EQ(grid_size(std::int64_t{1} << 40), kMaxGrid);
  const Shape huge{std::int64_t{1} << 33, 8, 4, 16, 1, 16};
  EXPECT_NO_THROW(check_shape("ssd_forward", huge));
  ForwardArgs<float, float> args{};
  args.shape = huge;
  EXPECT_EQ((ChunkOutputs<float, float, 16>::items(args)), std::int64_t{1} << 35);
  EXPECT_GT(backward_workspace(huge).size, std::int64_t{1} << 42);
}

TEST(CudaScale, APlaceIsFoundFromItsNumberInEitherDirection) {
  const Shape s{std::int64_t{1} << 33, 70, 6, 5, 2, 3};
  for (const std::int64_t row : {std::int64_t{0}, std::int64_t{65536}, s.batch - 1}) {
    for (std::int64_t chunk = 0; chunk < 5; ++chunk) {
      for (std::int64_t head = 0; head < 6; ++head) {
        const Place p = place_of(s, 16, (row * 5 + chunk) * 6 + head);
        EXPECT_EQ(p.row, row);
        EXPECT_EQ(p.chunk, chunk);
        EXPECT_EQ(p.head, head);
        EXPECT_EQ(p.group, head / 3);
        EXPECT_EQ(p.start, chunk * 16);
        EXPECT_EQ(p.length, chunk == 4 ? 6 : 16);
        EXPECT_EQ(token_offset(s, p, 5), ((row * 70 + p.start) * 6 + head) * 5);
      }
    }
  }
}

TEST(CudaScale, TheWorkspaceHoldsItsPartsSideBySide) {
  const Shape s{3, 70, 4, 5, 2, 7};
  const Workspace w = backward_workspace(s);
  const std::int64_t rows = 3 * chunk_count(s);
  EXPECT_EQ(w.leaving, 0);
  EXPECT_EQ(w.dB - w.leaving, rows * 4 * 5 * 7);
  EXPECT_EQ(w.dC - w.dB, 3 * 70 * 4 * 7);
  EXPECT_EQ(w.dA - w.dC, 3 * 70 * 4 * 7);
  EXPECT_EQ(w.dD - w.dA, rows * 4);
  EXPECT_EQ(w.stripes - w.dD, rows * 4);
  EXPECT_EQ(w.size - w.stripes, stripe_count(rows) * 4);
}

TEST(CudaScale, ChunksGrowWithTheBalanceOfWorkAndNeverFarBeyondTheWindow) {
  EXPECT_EQ(pick_chunk({1, 8, 1, 64, 1, 64}), 16);
  EXPECT_EQ(pick_chunk({1, 512, 1, 16, 1, 16}), 32);
  EXPECT_EQ(pick_chunk({1, 512, 1, 64, 1, 64}), 64);
  EXPECT_EQ(pick_chunk({1, 512, 1, 1, 1, 1}), 16);
}

TEST(CudaScale, SumsOfManyRowsAreExactInFloat64) {
  // 300,000 rows in 256 stripes; a serial float32 sum of them would be 1e-2 off.
  std::vector<float> values(std::size_t{300000} * 2);
  Rng rng(4);
  for (float& value : values) value = static_cast<float>(rng.uniform(0, 1));
  const std::int64_t stripes = stripe_count(300000);
  EXPECT_EQ(stripes, 256);
  std::vector<float> between(static_cast<std::size_t>(stripes * 2));
  std::vector<float> out(2);
  const HostRunner runner;
  runner.run<SumRows<float>>({{}, values.data(), 300000, 2, stripes, between.data()});
  runner.run<SumRows<float>>({{}, between.data(), stripes, 2, 1, out.data()});
  double want = 0.0;
  for (std::size_t i = 0; i < values.size(); i += 2) want += static_cast<double>(values[i]);
  EXPECT_NEAR(static_cast<double>(out[0]) / want, 1.0, 1e-7);  // the last rounding, and 256 before
}

std::string refusal(const Shape& shape) {
  try {
    check_shape("ssd_forward", shape);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "none";
}

TEST(CudaScale, ImpossibleSizesAreRefusedWithAllSizesNamed) {
  EXPECT_EQ(refusal({1, 0, 4, 2, 1, 3}),
            "[ssd_forward] B=1 T=0 H=4 P=2 G=1 N=3: every size must be at least 1");
  EXPECT_EQ(refusal({1, 2, 4, 2, 3, 3}),
            "[ssd_forward] B=1 T=2 H=4 P=2 G=3 N=3: the groups must divide the heads");
  const std::int64_t big = std::int64_t{1} << 31;
  EXPECT_EQ(refusal({big, big, 1, 1, 1, 1}),
            "[ssd_forward] B=2147483648 T=2147483648 H=1 P=1 G=1 N=1: too many values for 63 bits");
}

TEST(CudaScale, AMissingOperandIsNamed) {
  ForwardArgs<float, float> args{};
  args.shape = {1, 1, 1, 1, 1, 1};
  try {
    check(args);
    FAIL() << "expected ShapeError";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "[ssd_forward] x is null");
  }
}

}  // namespace
}  // namespace foxhunt::kernels::cuda
