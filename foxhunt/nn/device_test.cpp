#include "foxhunt/nn/device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

using testing::HasSubstr;

TEST(ParseDevice, ReadsItsOwnText) {
  EXPECT_EQ(parse_device("cpu"), DeviceSpec{});
  EXPECT_EQ(parse_device("cuda"), (DeviceSpec{DeviceKind::kCuda, 0}));
  EXPECT_EQ(parse_device("cuda:7"), (DeviceSpec{DeviceKind::kCuda, 7}));
  for (const char* text : {"cpu", "cuda:0", "cuda:12"}) EXPECT_EQ(parse_device(text).text(), text);
}

TEST(ParseDevice, RefusesEverythingElse) {
  for (const char* text : {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:1x", "cuda: 1",
                           "cuda:128", "cuda:99999999999999999999", "cpu:0", "meta"}) {
    try {
      parse_device(text);
      FAIL() << text;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("choose cpu, cuda or cuda:INDEX")) << text;
    }
  }
}

TEST(OpenDevice, TheCpuIsAlwaysThere) { EXPECT_NO_THROW(open_device(parse_device("cpu"))); }

TEST(OpenDevice, ACudaThatIsNotThereIsAnErrorWithItsReason) {
  const CudaReport report = cuda_report();
  if (report.available) {
    EXPECT_FALSE(report.gpus.empty());
    EXPECT_NO_THROW(open_device(parse_device("cuda")));
    EXPECT_THROW(open_device(parse_device("cuda:127")), DeviceError);
    return;
  }
  EXPECT_FALSE(report.reason.empty());
  EXPECT_TRUE(report.gpus.empty());
  try {
    open_device(parse_device("cuda:1"));
    FAIL() << "expected DeviceError";
  } catch (const DeviceError& error) {
    EXPECT_THAT(error.what(), HasSubstr("[device] cuda:1: " + report.reason));
  }
}

TEST(TorchFacts, AreReported) {
  EXPECT_THAT(torch_version(), testing::StartsWith("2."));
  EXPECT_GE(torch_threads(), 1);
  EXPECT_THROW(set_torch_threads(0), UsageError);
}

}  // namespace
}  // namespace foxhunt::nn
