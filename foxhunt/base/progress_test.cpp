#include "foxhunt/base/progress.h"

#include <gtest/gtest.h>

#include <vector>

#include "foxhunt/base/nearest.h"

namespace foxhunt {
namespace {

TEST(Progress, WritesNoCarriageReturnWhereThereIsNoTerminal) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressMode::kPlain, "epoch 1/2", "rows", 10);
    for (int i = 1; i <= 10; ++i) progress.update(i, "loss 1.0");
    progress.finish();
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_NE(text.find("epoch 1/2  10/10"), std::string::npos) << text;
  EXPECT_NE(text.find("loss 1.0"), std::string::npos);
}

TEST(Progress, IsSilentWhenOff) {
  testing::internal::CaptureStderr();
  {
    Progress progress(ProgressMode::kOff, "x", "rows", 10);
    progress.update(10, "");
    progress.finish();
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST(Progress, FormatsForPeople) {
  EXPECT_EQ(format_duration(41.2), "0:41");
  EXPECT_EQ(format_duration(3723), "1:02:03");
  EXPECT_EQ(format_bytes(std::int64_t{412} * 1024 * 1024), "412 MiB");
  EXPECT_GT(resident_set().peak, 1 << 20);
}

TEST(NearestName, FindsTheTypoAndStaysSilentOtherwise) {
  const std::vector<std::string> names{"d_model", "d_state", "headdim"};
  EXPECT_EQ(nearest_name("d_mdoel", names), "d_model");
  EXPECT_EQ(nearest_name("zzzzzzzz", names), "");
}

}  // namespace
}  // namespace foxhunt
