#include "foxhunt/bundle/answer.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/json.h"

namespace foxhunt::bundle {
namespace {

TEST(Answer, ProbabilitiesAreASoftmaxThatCannotOverflow) {
  const std::vector<float> outputs{1000.0F, 999.0F, -1000.0F};
  const auto p = meaning_of(outputs, {.kind = model::HeadKind::kClassification});
  EXPECT_NEAR(p[0], 1 / (1 + std::exp(-1.0)), 1e-15);  // float64 rounding
  EXPECT_NEAR(p[0] + p[1] + p[2], 1.0, 1e-15);
  EXPECT_EQ(p[2], 0.0);
}

TEST(Answer, LinesAreJsonWithExactPrices) {
  const AnswerRow row{.available_at = from_nanos(1381096860000000000),
                      .bar_start = from_nanos(1381096800000000000),
                      .symbol = "ESZ3",
                      .close = Price{1'690'250'000'000}};
  const std::vector<double> p{0.2, 0.3, 0.5};
  const std::string line = answer_line(row, p, {.kind = model::HeadKind::kClassification});
  EXPECT_EQ(
      line,
      R"({"time":"2013-10-06T22:01:00Z","bar_start":"2013-10-06T22:00:00Z","symbol":"ESZ3","close":1690.25,)"
      R"("p_down":0.2,"p_flat":0.3,"p_up":0.5,"prediction":"up"})");
  EXPECT_EQ(nlohmann::json::parse(line)["prediction"], "up");
  AnswerRow odd = row;
  odd.close = Price{-50'000};
  EXPECT_NE(answer_line(odd, p, {}).find("\"close\":-0.00005,"), std::string::npos);
  const model::HeadConfig quantiles{.kind = model::HeadKind::kQuantiles,
                                    .quantiles = {0.1, 0.5, 0.9}};
  EXPECT_EQ(nlohmann::json::parse(answer_line(row, p, quantiles))["q0.9"], 0.5);
}

}  // namespace
}  // namespace foxhunt::bundle
