#include "foxhunt/evaluation/report/breakdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

#include "foxhunt/evaluation/report/scorer.h"

namespace foxhunt::evaluation {
namespace {

const std::vector<std::string>& breakdown_metrics(const Task& task) {
  static const std::vector<std::string> kClasses{"log_loss", "accuracy", "mcc", "rank_ic"};
  static const std::vector<std::string> kNumbers{"rmse", "r2", "rank_ic"};
  static const std::vector<std::string> kQuantiles{"pinball", "rank_ic"};
  if (std::holds_alternative<ClassificationTask>(task)) return kClasses;
  return std::holds_alternative<RegressionTask>(task) ? kNumbers : kQuantiles;
}

Forecasts subset(const Forecasts& all, const std::vector<std::size_t>& rows, std::size_t width) {
  Forecasts part{all.name, {}};
  for (const std::size_t i : rows) {
    const auto* first = all.values.data() + i * width;
    part.values.insert(part.values.end(), first, first + width);
  }
  return part;
}

/// Scores on each group of rows with a common key.
template <class Key, class Name>
Breakdown break_down(const std::string& by, const std::vector<Key>& keys, Name name,
                     const EvaluationRows& rows, const Task& task, const Forecasts& model,
                     const Forecasts* baseline) {
  const std::vector<MetricInfo> metrics = metrics_of(task);
  Breakdown result{.by = by,
                   .metrics = breakdown_metrics(task),
                   .baseline = baseline == nullptr ? "" : baseline->name,
                   .groups = {}};
  std::map<Key, std::vector<std::size_t>> rows_of;
  for (std::size_t i = 0; i < keys.size(); ++i) rows_of[keys[i]].push_back(i);
  std::vector<Value> values(metrics.size());
  for (const auto& [key, group_rows] : rows_of) {
    const EvaluationRows part = rows.subset(group_rows);
    make_scorer(task, part, subset(model, group_rows, forecast_width(task))).score({}, values);
    GroupResult group{
        .key = name(key), .rows = group_rows.size(), .model = {}, .baseline_loss = {}};
    for (const std::string& wanted : result.metrics) {
      const auto at = std::find_if(metrics.begin(), metrics.end(),
                                   [&](const auto& m) { return m.name == wanted; });
      group.model.push_back(values[static_cast<std::size_t>(at - metrics.begin())]);
    }
    group.baseline_loss = Value::undefined("no baseline");
    if (baseline != nullptr) {
      make_scorer(task, part, subset(*baseline, group_rows, forecast_width(task)))
          .score({}, values);
      group.baseline_loss = values[0];
    }
    result.groups.push_back(std::move(group));
  }
  return result;
}

std::vector<int> hour_keys(const EvaluationRows& rows) {
  if (!rows.hours.empty()) return rows.hours;
  std::vector<int> hours;
  for (const UnixNanos t : rows.times) {
    const auto of_day = t - std::chrono::floor<std::chrono::days>(t);
    hours.push_back(static_cast<int>(std::chrono::floor<std::chrono::hours>(of_day).count()));
  }
  return hours;
}

}  // namespace

Breakdown by_session(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                     const Forecasts* baseline) {
  const auto name = [](Date d) { return to_string(d); };
  return break_down("session", rows.sessions, name, rows, task, model, baseline);
}

Breakdown by_hour(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                  const Forecasts* baseline) {
  const auto name = [](int hour) { return fmt::format("{:02}", hour); };
  return break_down(rows.hour_name, hour_keys(rows), name, rows, task, model, baseline);
}

}  // namespace foxhunt::evaluation
