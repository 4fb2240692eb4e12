#include "foxhunt/train/charts.h"

#include <fmt/format.h>

#include <fstream>
#include <limits>
#include <vector>

#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::train {
namespace {

namespace ev = foxhunt::evaluation;
namespace svg = foxhunt::evaluation::svg;

struct LossCurve {
  std::vector<double> train;
  std::vector<double> valid;
};

/// metrics.jsonl; a line that is not whole (a run that is being written) ends it.
LossCurve read_losses(const RunDir& run) {
  LossCurve curve;
  std::ifstream file(run.file("metrics.jsonl"));
  const auto number = [](const nlohmann::json& line, const char* key) {
    return line.contains(key) && line[key].is_number() ? line[key].get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN();
  };
  for (std::string text; std::getline(file, text);) {
    const auto line = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (!line.is_object()) break;
    if (!line.contains("epoch")) continue;
    curve.train.push_back(number(line, "train_loss"));
    curve.valid.push_back(number(line, "valid_loss"));
  }
  return curve;
}

/// By how much the model's loss lies below the best baseline's, hour by hour.
svg::BarChart by_hour(const ev::EvaluationReport& report) {
  svg::BarChart chart;
  chart.title = "Gain over the best baseline, by hour";
  chart.subtitle = fmt::format("{} of '{}' minus that of the model; above 0 the model is better",
                               report.by_hour.metrics.front(), report.by_hour.baseline);
  chart.x_label = report.by_hour.by;
  chart.y_label = "gain in " + report.by_hour.metrics.front();
  chart.positive_name = "model better";
  chart.negative_name = "baseline better";
  for (const ev::GroupResult& group : report.by_hour.groups) {
    chart.categories.push_back(group.key);
    chart.below.push_back(fmt::format("{}", group.rows));
    const ev::Value& model = group.model.front();
    if (model.defined() && group.baseline_loss.defined()) {
      chart.values.push_back(ev::Value::of(*group.baseline_loss - *model));
    } else {
      chart.values.push_back(model.defined() ? group.baseline_loss : model);
    }
  }
  return chart;
}

}  // namespace

void write_charts(const RunDir& run, const std::string& split, const ev::EvaluationReport& report) {
  const LossCurve losses = read_losses(run);
  if (!losses.train.empty()) {
    write_file_atomic(run.file("loss.svg"),
                      svg::loss_curve_svg(losses.train, losses.valid, "loss"));
  }
  if (const auto* task = std::get_if<ev::ClassificationTask>(&report.task)) {
    svg::CalibrationChart chart;
    chart.subtitle = fmt::format("{} rows of the part '{}'", report.rows, split);
    chart.class_names = task->class_names;
    chart.classes = report.calibration;
    write_file_atomic(run.file(fmt::format("calibration-{}.svg", split)), svg::to_svg(chart));
  }
  if (!report.by_hour.groups.empty() && !report.by_hour.metrics.empty()) {
    write_file_atomic(run.file(fmt::format("hours-{}.svg", split)), svg::to_svg(by_hour(report)));
  }
}

}  // namespace foxhunt::train
