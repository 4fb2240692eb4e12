// What a program reads of a state.
#include <gtest/gtest.h>

#include "foxhunt/base/json.h"
#include "foxhunt/train/inspect_test_report.h"

namespace foxhunt::train {
namespace {

TEST(InspectJson, HoldsEveryNumberAndNullForAnEndlessMemory) {
  const auto out = nlohmann::json::parse(to_json(test::small_report()));
  EXPECT_EQ(out["rows"], 2473);
  EXPECT_EQ(out["step"]["bytes_per_step"], 54321);
  EXPECT_EQ(out["layers"].size(), 2U);
  const auto& layer = out["layers"][0];
  EXPECT_EQ(layer["heads"][0]["memory_bars"], 9.5);
  EXPECT_EQ(layer["heads"][0]["dt"]["at_limits"], 0.25);
  EXPECT_TRUE(layer["heads"][1]["memory_bars"].is_null());
  EXPECT_EQ(layer["groups"][0][1]["importance"], 8e-4);
  EXPECT_EQ(layer["groups"][0][1]["contribution"], 0.6);
}

TEST(PruneJson, SaysWhereTheRunCameFromAndWhatItCost) {
  const auto out = nlohmann::json::parse(to_json(test::small_prune()));
  EXPECT_EQ(out["from"]["run"], "runs/a");
  EXPECT_EQ(out["from"]["weights_sha256"], std::string(64, 'a'));
  EXPECT_EQ(out["before"]["step"]["parameters"], 1000);
  EXPECT_EQ(out["after"]["valid_loss"], 1.0775);
  EXPECT_EQ(out["kept_columns"][1][0][1], 2);
  EXPECT_TRUE(out["trials"][0]["valid_loss"].is_null());
  EXPECT_EQ(out["trials"][1]["d_state"], 2);
}

}  // namespace
}  // namespace foxhunt::train
