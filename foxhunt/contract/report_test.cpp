#include "foxhunt/contract/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "foxhunt/base/json.h"

namespace foxhunt::contract {
namespace {

using testing::HasSubstr;

Report a_report() {
  Report report{.model = "ES.fox",
                .id = "1",
                .model_id = "2",
                .cpu = "a CPU",
                .measured_at = "2026-01-01T00:00:00Z",
                .revision = "r",
                .load_before = 0.5,
                .load_after = 1.5,
                .grants = {"pinned to core 1"},
                .forms = {},
                .refused = {{"fp16", "avx2", "a reason"}}};
  FormReport form{.form = bundle::WeightForm::kI8,
                  .kernels = "avx512",
                  .bytes = {.projections = 100, .state = 20, .window = 6, .window_row = 2},
                  .verified = true,
                  .verify_what = {},
                  .loads = {.loads = 3,
                            .median = {},
                            .load_ms = 12.5,
                            .least_load_ms = 11.0,
                            .first_ratio = 1.25},
                  .rows = {}};
  ContractRow row;
  row.row.weights = "int8";
  row.row.schedule = "back_to_back";
  row.row.p50.us = 2.5;
  row.row.p99 = {.us = 9.0, .why_not = "too few"};
  row.row.floor_us = 2.0;
  row.row.bytes_per_step = 148;
  row.row.notes = {"a note"};
  form.rows = {row};
  report.forms = {form};
  return report;
}

TEST(Report, TextSaysEachFigureOnOneLine) {
  const std::string text = to_text(a_report());
  std::istringstream lines(text);
  std::string line;
  bool found = false;
  while (std::getline(lines, line)) {
    if (!line.starts_with("step ")) continue;
    found = true;
    for (const char* part : {"int8", "back_to_back", "2.50", "n/a", "1.25", "148", " ?"})
      EXPECT_THAT(line, HasSubstr(part));
  }
  EXPECT_TRUE(found);
  for (const char* part :
       {"load average 0.5 before, 1.5 after", "pinned to core 1", "a note", "n/a: too few",
        "148 bytes a step", "load 12.5 ms (least 11.0", "fp16 avx2: refused: a reason"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Report, JsonSaysWhatWasNotCountedAsNull) {
  const auto json = nlohmann::json::parse(to_json(a_report()));
  const auto& row = json["rows"][0];
  EXPECT_TRUE(row["allocations"].is_null());
  EXPECT_TRUE(row["syscalls"].is_null());
  EXPECT_TRUE(row["p99_us"].is_null());
  EXPECT_EQ(row["bytes_read"], 126);
  EXPECT_EQ(row["bytes_written"], 22);
  EXPECT_EQ(json["forms"][0]["load"]["first_ratio"], 1.25);
  EXPECT_EQ(json["ok"], true);
  Report unmeasured = a_report();
  unmeasured.forms[0].loads = {};
  EXPECT_FALSE(nlohmann::json::parse(to_json(unmeasured))["forms"][0].contains("load"));
}

TEST(Report, IsBrokenByEachCountOfItsOwn) {
  ContractRow row;
  EXPECT_TRUE(row.broken().empty());
  row.row.allocations = row.row.syscalls = 0;
  EXPECT_TRUE(row.broken().empty());
  row.row.allocations = 1;
  row.row.syscalls = 2;
  row.row.minor_faults = 3;
  row.unanswered = 4;
  EXPECT_THAT(row.broken(), testing::ElementsAre(HasSubstr("1 allocations"), HasSubstr("2 system"),
                                                 HasSubstr("3 page"), HasSubstr("4 timed")));
}

}  // namespace
}  // namespace foxhunt::contract
