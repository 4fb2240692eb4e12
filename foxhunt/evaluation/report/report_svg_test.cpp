#include "foxhunt/evaluation/report/report_svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/simulated_market.h"

namespace foxhunt::evaluation {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(ReportSvg, ShowsWhatTheModelSavesAgainstTheBestBaseline) {
  const SimulatedMarket m(800, 100, 1);
  const EvaluationOptions options{.resamples = 50, .blocks = FixedBlocks{5}};
  const EvaluationReport r =
      evaluate(m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal),
               {{m.knowing_nothing("prior")}, {}}, options, Rng(1));
  EXPECT_THAT(by_hour_svg(r), HasSubstr("Saved log-loss against prior, by UTC hour"));
  EXPECT_THAT(by_hour_svg(r), HasSubstr(">480</text>"));  // 8 days of 14:00 to 14:59
  EXPECT_THAT(by_session_svg(r), HasSubstr(">2024-03-11</text>"));
  EXPECT_THAT(calibration_svg(r), HasSubstr("800 rows of 8 sessions; bars: 95 % intervals"));

  const EvaluationReport alone =
      evaluate(m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal), {},
               options, Rng(1));
  EXPECT_THAT(by_hour_svg(alone), HasSubstr(">log-loss by UTC hour</text>"));
  EXPECT_THAT(by_hour_svg(alone), Not(HasSubstr("better")));

  const EvaluationReport numbers =
      evaluate(m.rows, RegressionTask{}, {"model", m.signal}, {}, options, Rng(1));
  EXPECT_THAT(calibration_svg(numbers), HasSubstr("no data"));
  EXPECT_THAT(calibration_svg(EvaluationReport{}), HasSubstr("no data"));
  EXPECT_THAT(by_hour_svg(EvaluationReport{}), HasSubstr("no data"));
}

}  // namespace
}  // namespace foxhunt::evaluation
