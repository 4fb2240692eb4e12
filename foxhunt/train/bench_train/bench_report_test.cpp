#include "foxhunt/train/bench_train/bench_report.h"

#include <gmock/gmock.h>

#include <cmath>

#include "foxhunt/base/json.h"

namespace foxhunt::train {
namespace {

using testing::HasSubstr;
using testing::Not;

CaseRecord measured(const BenchCase& which, double step, std::int64_t peak) {
  CaseRecord record{.which = which};
  for (int i = 0; i < 9; ++i) {
    const double drift = 1 + 0.01 * i;
    record.visits.push_back({.seconds = {step * drift, step * drift},
                             .reference = {0.01 * drift},
                             .reference_single = {0.015 * drift},
                             .losses = {2, 1},
                             .peak_bytes = peak,
                             .other_cores = 0.05});
  }
  return record;
}

BenchReport report_of(const std::map<std::string, std::int64_t>& memory = {{"cpu", 1000}},
                      const std::function<std::int64_t(const BenchCase&)>& estimate = {}) {
  BenchReport report;
  report.experiment = "demo <b>";
  report.window_rows = 10;
  report.own_batch = 4;
  report.price_per_hour = 3.0;
  report.task = {.symbols = {"ES"}, .epochs = 2};
  report.work = {{.symbol = "ES", .sessions = 1, .bars = 100, .rows = 90, .windows = 9}};
  report.cuda_reason = "no NVIDIA driver";
  report.complete = true;
  std::vector<CaseRecord> records{measured({"cpu", "fp32", "native", 1}, 1.0, 110),
                                  measured({"cpu", "fp32", "aten", 1}, 2.0, 300),
                                  measured({"cpu", "fp32", "native", 4}, 2.0, 140),
                                  measured({"cpu", "bf16", "native", 4}, 1.0, 140),
                                  {.which = {"cpu", "bf16", "aten", 4}}};
  records.back().left_out = "too slow: a step would take long";
  derive(report, records, memory, estimate);
  return report;
}

TEST(BenchReport, HoursAndCostFollowFromStepsAndTheMedian) {
  const BenchReport report = report_of();
  const BenchedCase& native4 = report.cases[2];
  EXPECT_EQ(native4.steps, 2 * 3);  // ceil(9 / 4) steps an epoch
  EXPECT_NEAR(native4.hours.value, 6 * 2.0 * 1.04 / 3600, 1e-12);
  EXPECT_NEAR(native4.hours.low, native4.hours.value, 1e-9);  // the drift is taken out
  EXPECT_NEAR(native4.cost.value, 3 * native4.hours.value, 1e-12);
  EXPECT_NEAR(native4.cost.high, 3 * native4.hours.high, 1e-12);
}

TEST(BenchReport, SpeedUpsCompareLikeWithLike) {
  const BenchReport report = report_of();
  ASSERT_EQ(report.speed_ups.size(), 2U);
  EXPECT_EQ(report.speed_ups[0].what, "native over aten");
  EXPECT_EQ(report.speed_ups[0].fast, "cpu/fp32/native/1");
  EXPECT_NEAR(report.speed_ups[0].ratio.value, 2, 1e-12);  // drift cancels
  EXPECT_NEAR(report.speed_ups[0].ratio.low, 2, 1e-9);
  EXPECT_EQ(report.speed_ups[1].what, "bf16 over fp32");
  EXPECT_EQ(report.speed_ups[1].slow, "cpu/fp32/native/4");
}

TEST(BenchReport, TheFastestHasMostRowsASecond) {
  EXPECT_EQ(report_of().fastest, std::vector<std::string>{"cpu/bf16/native/4"});
}

TEST(BenchReport, TheLargestBatchFollowsTheLineOrTheEstimate) {
  const BenchReport line = report_of();
  ASSERT_FALSE(line.largest.empty());
  EXPECT_EQ(line.largest[0].family, "cpu/fp32/native");
  EXPECT_EQ(line.largest[0].measured, 4);
  EXPECT_EQ(line.largest[0].fits, 90);  // 100 + 10 a window in 1000
  const BenchReport estimated =
      report_of({{"cpu", 1000}}, [](const BenchCase& c) { return 7 * c.batch; });
  EXPECT_EQ(estimated.largest[0].fits, 142);
  EXPECT_EQ(estimated.largest[0].how, "by the memory estimate");
  EXPECT_EQ(report_of({{"cpu", 5}}, [](const BenchCase& c) { return 7 * c.batch; }).largest[0].fits,
            0);
  EXPECT_EQ(report_of({{"cpu", 5}}).largest[0].fits, 0);  // no negative batch
  EXPECT_TRUE(report_of({}).largest.empty());
}

TEST(BenchReport, JsonHoldsEveryFigureWithItsInterval) {
  const auto json = nlohmann::json::parse(to_json(report_of()));
  EXPECT_EQ(json["format"], "foxhunt-bench-train");
  EXPECT_EQ(json["machine"]["cuda_reason"], "no NVIDIA driver");
  const auto& one = json["cases"][0];
  for (const char* figure : {"references_a_step", "step_seconds_normalised", "step_seconds",
                             "step_seconds_p5", "step_seconds_p95", "step_seconds_min",
                             "windows_per_second", "rows_per_second", "peak_bytes"}) {
    EXPECT_LE(one[figure]["low"], one[figure]["value"]) << figure;
    EXPECT_GE(one[figure]["high"], one[figure]["value"]) << figure;
    EXPECT_GE(one[figure]["level"], 0.95) << figure;
  }
  EXPECT_EQ(json["reference"]["cpu"]["visits"], 36);
  EXPECT_NEAR(json["reference"]["cpu"]["program_seconds"]["value"], 0.0104, 1e-12);
  EXPECT_NEAR(json["reference"]["cpu"]["swing"], 0.08, 1e-9);
  EXPECT_EQ(one["loss"]["falls"], true);
  EXPECT_EQ(json["cases"][4]["left_out"], "too slow: a step would take long");
  EXPECT_FALSE(json["cases"][4].contains("step_seconds"));
}

TEST(BenchReport, PageNeedsNothingFromElsewhereAndEscapes) {
  const std::string page = to_html(report_of());
  EXPECT_THAT(page, HasSubstr("demo &lt;b&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("<b>")));
  EXPECT_THAT(page, Not(HasSubstr("src=")));
  EXPECT_THAT(page, Not(HasSubstr("href=")));
  EXPECT_THAT(page, Not(HasSubstr("url(")));
  EXPECT_THAT(page, HasSubstr("<svg"));
}

TEST(BenchReport, MarkdownSaysWhatIsMissing) {
  const std::string text = to_markdown(report_of());
  EXPECT_THAT(text, HasSubstr("| cuda | no NVIDIA driver |"));
  EXPECT_THAT(text, HasSubstr("| cpu/bf16/aten/4 | too slow"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "| cpu/fp32/native/1 | 100.0 [100.0, 100.0] | 1040 [1040, 1040] | 1040 [1000, 1080] |"));
  EXPECT_THAT(text, HasSubstr("| cpu | 10.40 [10.00, 10.80] | 15.60 [15.00, 16.20] | 1.08 | 36 |"));
  EXPECT_EQ(figure_text({std::nan(""), 0, 0, 0}), "n/a");
  EXPECT_EQ(figure_text({2, 1, 3, 0.75}), "2.000 [1.000, 3.000] at 75 %");
  EXPECT_EQ(figure_text({0.002, 0.001, 0.003, 0.97}, 1e3), "2.000 [1.000, 3.000]");
}

}  // namespace
}  // namespace foxhunt::train
