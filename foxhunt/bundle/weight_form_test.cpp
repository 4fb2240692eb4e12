#include "foxhunt/bundle/weight_form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

namespace foxhunt::bundle {
namespace {

TEST(WeightForm, HasTheNamesOfTheCommandLine) {
  EXPECT_EQ(to_string(WeightForm::kF32), "fp32");
  EXPECT_EQ(to_string(WeightForm::kF16), "fp16");
  EXPECT_EQ(to_string(WeightForm::kBF16), "bf16");
  EXPECT_EQ(to_string(WeightForm::kI8), "int8");
  for (const WeightForm form :
       {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8}) {
    EXPECT_EQ(weight_form_of(to_string(form)), form);
  }
}

TEST(WeightForm, NamesTheChoicesWhereItKnowsNone) {
  for (const char* name : {"", "FP32", "fp8", "fp32 ", "int8\n"}) {
    try {
      weight_form_of(name);
      FAIL() << name;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("fp32, fp16, bf16, int8"));
    }
  }
}

}  // namespace
}  // namespace foxhunt::bundle
