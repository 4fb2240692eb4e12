// The self-test must pass with kernels that are right, fail with ones that are not, and name what
// is wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <functional>

#include "foxhunt/kernels/cuda/dispatch.h"
#include "foxhunt/kernels/cuda/host_runner.h"
#include "foxhunt/kernels/cuda/self_test_problems.h"
#include "foxhunt/kernels/cuda/trusted.h"

namespace foxhunt::kernels::cuda {
namespace {

using testing::HasSubstr;

/// The kernels on the host, with something done to their answers.
struct Host {
  std::function<void(const ForwardArgs<float, float>&)> spoil_forward = [](const auto&) {};
  std::function<void(const BackwardArgs<float, float>&)> spoil_backward = [](const auto&) {};

  static HostMemory memory() { return {}; }
  void forward(const ForwardArgs<float, float>& args) const {
    run_forward(HostRunner(), args);
    spoil_forward(args);
  }
  void forward(const ForwardArgs<Bf16, float>& args) const { run_forward(HostRunner(), args); }
  void backward(const BackwardArgs<float, float>& args) const {
    run_backward(HostRunner(), args);
    spoil_backward(args);
  }
  void backward(const BackwardArgs<Bf16, float>& args) const { run_backward(HostRunner(), args); }
  template <class In>
  void step(const StepArgs<In, float>& args) const {
    const HostRunner runner;
    run_step(runner, args);
  }
};

TEST(CudaSelfTest, PassesWithKernelsThatAreRight) {
  const SelfTestReport report = run_self_test(Host{});
  EXPECT_TRUE(report.passed()) << report.worst().operation << " " << report.worst().error;
  // 9 answers and their repetition, 2 of the step, for two types of input.
  EXPECT_EQ(report.lines.size(), 2 * (9 + 9 + 2));
}

TEST(CudaSelfTest, NamesTheAnswerThatIsOff) {
  Host host;
  host.spoil_backward = [](const auto& args) { args.dB[0] += 1e-2F; };
  const SelfTestReport report = run_self_test(host);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.worst().operation, "ssd_backward float32 dB");
}

TEST(CudaSelfTest, SeesAnAnswerThatIsNotANumber) {
  Host host;
  host.spoil_forward = [](const auto& args) { args.final_state[0] *= NAN; };
  EXPECT_FALSE(run_self_test(host).passed());
}

TEST(CudaSelfTest, SeesAnAnswerThatChangesFromRunToRun) {
  Host host;
  int calls = 0;
  host.spoil_backward = [&calls](const auto& args) {
    if (++calls % 2 == 0) args.dA[0] *= 1.0F + 2e-7F;  // a last bit, as atomics change it
  };
  const SelfTestReport report = run_self_test(host);
  EXPECT_FALSE(report.passed());
  EXPECT_EQ(report.worst().operation, "repeated float32 dA");
}

// A plugin made of plain functions.
int one_gpu() noexcept { return 1; }
int its_name(int, ErrorText* name) noexcept {
  std::snprintf(name->text, sizeof name->text, "Testing GPU (sm_00)");
  return 0;
}
int good_test(int, SelfTestSink sink, void* context, ErrorText*) noexcept {
  sink(context, "ssd_forward float32 y", 1e-6, 1e-5);
  return 0;
}
int bad_test(int, SelfTestSink sink, void* context, ErrorText*) noexcept {
  sink(context, "ssd_forward float32 y", 1e-6, 1e-5);
  sink(context, "ssd_backward float32 dC", 0.5, 1e-5);
  return 0;
}
int failing_test(int, SelfTestSink, void*, ErrorText* error) noexcept {
  std::snprintf(error->text, sizeof error->text, "[ssd_chunk_states] no kernel image");
  return 1;
}
PluginTable table_with(int (*test)(int, SelfTestSink, void*, ErrorText*) noexcept) {
  PluginTable table{};
  table.version = kPluginVersion;
  table.bytes = kPluginBytes;
  table.device_count = one_gpu;
  table.device_name = its_name;
  table.self_test = test;
  return table;
}

TEST(CudaTrust, FollowsTheSelfTest) {
  const PluginTable good = table_with(good_test);
  const Trust trust = examine({&good, ""}, 0);
  EXPECT_TRUE(trust.usable);
  EXPECT_EQ(trust.device, "cuda:0 Testing GPU (sm_00)");
}

TEST(CudaTrust, IsRefusedWithDeviceAnswerErrorAndBound) {
  const PluginTable bad = table_with(bad_test);
  const Trust trust = examine({&bad, ""}, 0);
  EXPECT_FALSE(trust.usable);
  EXPECT_EQ(
      trust.text,
      "[cuda] own kernels are not used on cuda:0 Testing GPU (sm_00): self-test: ssd_backward "
      "float32 dC is off by 0.5, allowed is 1e-05; LibTorch's operations are used instead");
}

TEST(CudaTrust, IsRefusedWhereALaunchFailsOrTheGpuIsMissing) {
  const PluginTable failing = table_with(failing_test);
  EXPECT_THAT(examine({&failing, ""}, 0).text, HasSubstr("no kernel image"));
  EXPECT_FALSE(examine({&failing, ""}, 0).usable);
  EXPECT_THAT(examine({&failing, ""}, 1).text, HasSubstr("cuda:1: there is no such GPU"));
  EXPECT_FALSE(examine({nullptr, "no such file"}, 0).usable);
}

TEST(CudaPlugin, AMissingLibraryIsToldNotThrown) {
  const Plugin plugin = open_plugin("nowhere/libfoxhunt_cuda.so");
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.problem, HasSubstr("nowhere/libfoxhunt_cuda.so is not there"));
}

TEST(CudaPlugin, AnotherLibraryIsRefused) {
  const Plugin plugin = open_plugin("README.md");
  EXPECT_EQ(plugin.table, nullptr);
  EXPECT_THAT(plugin.problem, HasSubstr("README.md"));
}

}  // namespace
}  // namespace foxhunt::kernels::cuda
