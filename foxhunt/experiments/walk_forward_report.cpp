// The result of a walk-forward as a table, as JSON and as a picture.
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/text_table.h"
#include "foxhunt/evaluation/svg/charts.h"
#include "foxhunt/experiments/walk_forward.h"

namespace foxhunt::experiments {
namespace {

namespace ev = foxhunt::evaluation;
using Json = nlohmann::ordered_json;

/// Days, or days and minutes where folds are shorter than a day.
class CutText {
 public:
  explicit CutText(const WalkForwardReport& report) {
    for (const FoldResult& f : report.folds)
      fine_ = fine_ || utc_date(f.fold.valid_end) == utc_date(f.fold.train_end);
  }
  /// "2023-12-25" or "2023-12-25 23:20".
  std::string operator()(UnixNanos t) const {
    const std::string text = to_string(t);
    return fine_ ? text.substr(0, 10) + " " + text.substr(11, 5) : text.substr(0, 10);
  }

 private:
  bool fine_ = false;
};

Json number(const ev::Value& v) { return v ? Json(*v) : Json(nullptr); }

Json to_json(const FoldResult& f) {
  Json json{{"run", f.run},
            {"train_begin", to_string(f.fold.train_begin)},
            {"train_end", to_string(f.fold.train_end)},
            {"valid_end", to_string(f.fold.valid_end)},
            {"test_end", to_string(f.fold.test_end)},
            {"weights_sha256", f.weights_sha256},
            {"best_epoch", f.best_epoch},
            {"rows", f.rows},
            {"metric", f.metric},
            {"model", number(f.model)},
            {"baseline", f.baseline.empty() ? Json(nullptr) : Json(f.baseline)},
            {"gain", number(f.gain)},
            {"lo", number(f.interval.lo)},
            {"hi", number(f.interval.hi)}};
  if (!f.gain) json["reason"] = f.gain.reason();
  return json;
}

double largest_gain(const WalkForwardReport& report) {
  double largest = 0;
  for (const FoldResult& f : report.folds) largest = std::max(largest, std::abs(f.gain.or_else(0)));
  return largest;
}

}  // namespace

std::string to_json(const WalkForwardReport& report) {
  Json folds = Json::array();
  for (const FoldResult& f : report.folds) folds.push_back(to_json(f));
  const Json json{
      {"folder", report.folder.string()},
      {"leak_proof", report.leak_proof.empty() ? Json(nullptr) : Json(report.leak_proof)},
      {"length", report.plan.length},
      {"unused", report.plan.unused},
      {"folds", std::move(folds)},
      {"better", report.better},
      {"pooled", Json::parse(ev::to_json(report.pooled))}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const WalkForwardReport& report) {
  const std::string metric = report.folds.empty() ? "" : report.folds.front().metric;
  std::vector<std::vector<std::string>> cells{{"fold", "trains from", "to", "tests to", "rows",
                                               metric, "gain", "interval", "best baseline"}};
  const double scale = largest_gain(report);
  const CutText cut(report);
  for (const FoldResult& f : report.folds) {
    const auto gain = [&](const ev::Value& v) {
      return v ? ev::signed_number_text(*v, scale) : std::string("n/a");
    };
    cells.push_back(
        {f.run, cut(f.fold.train_begin), cut(f.fold.train_end), cut(f.fold.test_end),
         ev::count_text(static_cast<double>(f.rows)), f.model ? ev::number_text(*f.model) : "n/a",
         gain(f.gain),
         f.interval.defined() ? gain(f.interval.lo) + " .. " + gain(f.interval.hi) : "n/a",
         f.baseline});
  }
  std::string text = ev::text_table(cells);
  text += fmt::format("\nThe model was better than its best baseline in {} of {} folds.\n",
                      report.better, report.folds.size());
  text += report.leak_proof.empty()
              ? "Unproven: no leak proof was named (foxhunt features prove, --proof).\n\n"
              : fmt::format("Leak proof of every fold: {}\n\n", report.leak_proof);
  return text + "All test rows as one. " + ev::to_text(report.pooled);
}

std::string to_svg(const WalkForwardReport& report) {
  ev::svg::BarChart chart;
  const std::string metric = report.folds.empty() ? "loss" : report.folds.front().metric;
  chart.title = "Gain over the best baseline, fold by fold";
  chart.subtitle =
      fmt::format("{} of the best baseline minus that of the model; better in {} of {}", metric,
                  report.better, report.folds.size());
  chart.x_label = "begin of the test, and its rows";
  chart.y_label = "gain in " + metric;
  chart.positive_name = "model better";
  chart.negative_name = "baseline better";
  const CutText cut(report);
  for (const FoldResult& f : report.folds) {
    chart.categories.push_back(cut(f.fold.valid_end));
    chart.below.push_back(ev::count_text(static_cast<double>(f.rows)));
    chart.values.push_back(f.gain);
  }
  return ev::svg::to_svg(chart);
}

}  // namespace foxhunt::experiments
