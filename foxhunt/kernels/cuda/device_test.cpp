// The kernels on a real GPU. Skipped by name where there is none. A program of its own: the only
// test of this room that links CUDA's runtime.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/launch.h"
#include "foxhunt/kernels/cuda/plugin.h"
#include "foxhunt/kernels/cuda/run_trial.h"
#include "foxhunt/kernels/cuda/self_test.h"

namespace foxhunt::kernels::cuda {
namespace {

class CudaDevice : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no GPU, or built without nvcc";
  }
};

Answers run_on_device(const Trial& trial) {
  DeviceMemory memory(0);
  TrialRun<float, float, DeviceMemory> run(trial, memory);
  launch_forward(run.forward(), {0, nullptr});
  launch_backward(run.backward(), {0, nullptr});
  return run.answers();
}

TEST_F(CudaDevice, PassesItsSelfTest) {
  for (const SelfTestLine& line : self_test(0).lines) {
    EXPECT_LE(line.error, line.bound) << line.operation;
    RecordProperty(line.operation, fmt::format("{:.3g} of {:.3g}", line.error, line.bound));
  }
}

TEST_F(CudaDevice, SeventyThousandRowsEqualTheirHalvesBitForBit) {
  const Trial trial = make_trial({70000, 8, 2, 3, 1, 2}, Grid::kFloat, {}, Rng(2));
  const Answers all = run_on_device(trial);
  for (const bool upper : {false, true}) {
    const auto half_of = [&](std::vector<double> values) {
      const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
      return upper ? std::vector<double>(middle, values.end())
                   : std::vector<double>(values.begin(), middle);
    };
    Trial half = trial;
    half.shape.batch = 35000;
    for (auto* values :
         {&half.x, &half.B, &half.C, &half.dt, &half.state, &half.dy, &half.dfinal_state}) {
      *values = half_of(*values);
    }
    const Answers got = run_on_device(half);
    EXPECT_TRUE(got.y == half_of(all.y));
    EXPECT_TRUE(got.dx == half_of(all.dx));
    EXPECT_TRUE(got.dB == half_of(all.dB));
    EXPECT_TRUE(got.ddt == half_of(all.ddt));
    EXPECT_TRUE(got.dstate == half_of(all.dstate));
  }
}

TEST_F(CudaDevice, OffsetsBeyond32BitsReachTheirValues) {
  // Rows 2^31 + 9 elements apart: 8 GiB, most of it never touched.
  const Shape shape{2, 5, 2, 3, 1, 4};
  const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(3));
  constexpr std::int64_t kRow = (std::int64_t{1} << 31) + 9;
  DeviceMemory memory(0);
  TrialRun<float, float, DeviceMemory> dense(trial, memory);
  launch_forward(dense.forward(), {0, nullptr});
  TrialRun<float, float, DeviceMemory> far(trial, memory);
  ForwardArgs<float, float> args = far.forward();
  float* base = nullptr;
  try {
    base = static_cast<float*>(memory.allocate(sizeof(float) * (kRow + 1000)));
  } catch (const DeviceError& error) {
    GTEST_SKIP() << error.what();
  }
  for (std::int64_t row = 0; row < 2; ++row) {
    std::vector<float> values(static_cast<std::size_t>(args.in.row_stride));
    memory.get(args.in.x + row * args.in.row_stride, values);
    memory.write(base + row * kRow, values);
  }
  args.in.x = base;
  args.in.B = base + 6;
  args.in.C = base + 10;
  args.in.row_stride = kRow;
  launch_forward(args, {0, nullptr});
  EXPECT_EQ(far.outputs().y, dense.outputs().y);
}

TEST(CudaWithoutDevice, ALaunchSaysWhatIsMissing) {
  if (device_count() > 0) GTEST_SKIP() << "there is a GPU";
  const Trial trial = make_trial({1, 2, 1, 1, 1, 1}, Grid::kFloat, {}, Rng(4));
  HostMemory memory;
  TrialRun<float, float, HostMemory> run(trial, memory);
  EXPECT_THROW(launch_forward(run.forward(), {0, nullptr}), DeviceError);
  EXPECT_THROW(self_test(0), DeviceError);
}

TEST(CudaWithoutDevice, ThePluginOpensAndCountsNoGpu) {
  const Plugin plugin = open_plugin(plugin_path());
  if (plugin.table == nullptr) GTEST_SKIP() << plugin.problem;
  EXPECT_EQ(plugin.table->device_count(), device_count());
}

}  // namespace
}  // namespace foxhunt::kernels::cuda
