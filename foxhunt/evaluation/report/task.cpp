#include "foxhunt/evaluation/report/task.h"

#include <fmt/format.h>

#include <cmath>
#include <unordered_set>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation {
namespace {

void check_length(const char* what, std::size_t length, std::size_t rows) {
  if (length != rows)
    throw ShapeError(fmt::format("[evaluation] {} {} for {} rows", length, what, rows));
}

void check_task(const ClassificationTask& task, const EvaluationRows& rows) {
  const std::size_t k = task.class_names.size();
  if (k < 2) throw ShapeError(fmt::format("[evaluation] {} classes, but it must be at least 2", k));
  if (task.down >= k || task.up >= k || task.down == task.up) {
    throw ShapeError(
        fmt::format("[evaluation] classes {} (down) and {} (up) must be two of 0 .. {}", task.down,
                    task.up, k - 1));
  }
  std::unordered_set<std::string> names;
  for (const std::string& name : task.class_names) {
    if (name.empty() || !names.insert(name).second) {
      throw ShapeError(fmt::format("[evaluation] class name '{}' is empty or there twice", name));
    }
  }
  check_length("labels", rows.labels.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows.labels[i] < 0 || static_cast<std::size_t>(rows.labels[i]) >= k) {
      throw DataError(fmt::format("[evaluation] row {}: true class {} is outside 0 .. {}", i,
                                  rows.labels[i], k - 1));
    }
  }
}

void check_task(const RegressionTask& task, const EvaluationRows& /*rows*/) {
  if (!std::isfinite(task.train_mean)) {
    throw ShapeError(fmt::format("[evaluation] training mean {} is not finite", task.train_mean));
  }
}

void check_task(const QuantileTask& task, const EvaluationRows& /*rows*/) {
  double before = 0;
  for (const double q : task.levels) {
    if (!(q > before && q < 1)) {
      throw ShapeError(fmt::format("[evaluation] quantile level {} must ascend within (0, 1)", q));
    }
    before = q;
  }
  if (task.levels.empty())
    throw ShapeError("[evaluation] a quantile task needs at least one level");
}

}  // namespace

std::size_t forecast_width(const Task& task) {
  if (const auto* classes = std::get_if<ClassificationTask>(&task))
    return classes->class_names.size();
  if (const auto* quantiles = std::get_if<QuantileTask>(&task)) return quantiles->levels.size();
  return 1;
}

EvaluationRows EvaluationRows::subset(const std::vector<std::size_t>& rows) const {
  EvaluationRows part;
  part.hour_name = hour_name;
  for (const std::size_t i : rows) {
    part.times.push_back(times[i]);
    part.sessions.push_back(sessions[i]);
    part.outcomes.push_back(outcomes[i]);
    if (!labels.empty()) part.labels.push_back(labels[i]);
    if (!hours.empty()) part.hours.push_back(hours[i]);
  }
  return part;
}

void check_rows(const EvaluationRows& rows, const Task& task) {
  if (rows.size() == 0) throw DataError("[evaluation] there is no row to evaluate");
  check_length("sessions", rows.sessions.size(), rows.size());
  check_length("outcomes", rows.outcomes.size(), rows.size());
  if (!rows.hours.empty()) check_length("hours", rows.hours.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_null(rows.times[i]) || (i > 0 && rows.times[i] < rows.times[i - 1])) {
      throw DataError(
          fmt::format("[evaluation] row {}: its time {} is null or before that of the row above", i,
                      to_string(rows.times[i])));
    }
    if (i > 0 && rows.sessions[i] < rows.sessions[i - 1]) {
      throw DataError(
          fmt::format("[evaluation] row {}: its session {} is before that of the row above", i,
                      to_string(rows.sessions[i])));
    }
    if (!std::isfinite(rows.outcomes[i])) {
      throw DataError(
          fmt::format("[evaluation] row {}: outcome {} is not finite", i, rows.outcomes[i]));
    }
  }
  std::visit([&](const auto& t) { check_task(t, rows); }, task);
}

}  // namespace foxhunt::evaluation
