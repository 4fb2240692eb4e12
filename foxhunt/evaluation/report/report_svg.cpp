#include "foxhunt/evaluation/report/report_svg.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::evaluation {
namespace {

/// log_loss as people write it: log-loss.
std::string spoken(std::string metric) {
  std::replace(metric.begin(), metric.end(), '_', '-');
  return metric;
}

std::string breakdown_svg(const Breakdown& breakdown) {
  const std::string loss = breakdown.metrics.empty() ? "loss" : spoken(breakdown.metrics.front());
  const bool compared = !breakdown.baseline.empty();
  svg::BarChart chart;
  chart.title =
      compared ? fmt::format("Saved {} against {}, by {}", loss, breakdown.baseline, breakdown.by)
               : fmt::format("{} by {}", loss, breakdown.by);
  chart.subtitle = compared
                       ? fmt::format("{} of {} minus that of the model; the numbers below are rows",
                                     loss, breakdown.baseline)
                       : "the numbers below are rows";
  chart.x_label = breakdown.by;
  chart.y_label = compared ? "saved " + loss : loss;
  if (compared) {
    chart.positive_name = "model better";
    chart.negative_name = breakdown.baseline + " better";
  }
  for (const GroupResult& group : breakdown.groups) {
    chart.categories.push_back(group.key);
    chart.below.push_back(count_text(static_cast<double>(group.rows)));
    const Value own = group.model.front();
    if (!compared || !own || !group.baseline_loss) {
      chart.values.push_back(compared && own ? group.baseline_loss : own);
    } else {
      chart.values.push_back(Value::of(*group.baseline_loss - *own));
    }
  }
  return svg::to_svg(chart);
}

}  // namespace

std::string calibration_svg(const EvaluationReport& report) {
  svg::CalibrationChart chart;
  const auto* task = std::get_if<ClassificationTask>(&report.task);
  if (task != nullptr && !report.calibration.empty()) {
    chart.class_names = task->class_names;
    chart.classes = report.calibration;
  }
  chart.subtitle =
      fmt::format("{} rows of {} session{}; bars: {:g} % intervals from resampled blocks",
                  count_text(static_cast<double>(report.rows)), report.sessions,
                  report.sessions == 1 ? "" : "s", report.level * 100);
  return svg::to_svg(chart);
}

std::string by_hour_svg(const EvaluationReport& report) { return breakdown_svg(report.by_hour); }
std::string by_session_svg(const EvaluationReport& report) {
  return breakdown_svg(report.by_session);
}

}  // namespace foxhunt::evaluation
