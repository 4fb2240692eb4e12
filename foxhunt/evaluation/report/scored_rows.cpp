#include "foxhunt/evaluation/report/scored_rows.h"

#include <fmt/format.h>

#include <sstream>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::evaluation {
namespace {

using Json = nlohmann::ordered_json;

Json task_json(const Task& task) {
  if (const auto* classes = std::get_if<ClassificationTask>(&task)) {
    return {{"classes", classes->class_names}, {"down", classes->down}, {"up", classes->up}};
  }
  if (const auto* numbers = std::get_if<RegressionTask>(&task))
    return {{"train_mean", numbers->train_mean}};
  return {{"levels", std::get<QuantileTask>(task).levels}};
}

Task task_of(const Json& json) {
  if (json.contains("classes")) {
    return ClassificationTask{
        .class_names = json["classes"], .down = json.at("down"), .up = json.at("up")};
  }
  if (json.contains("train_mean")) return RegressionTask{.train_mean = json["train_mean"]};
  return QuantileTask{.levels = json.at("levels")};
}

bool alike(const Task& a, const Task& b) {
  Json x = task_json(a);
  Json y = task_json(b);
  x.erase("train_mean");
  y.erase("train_mean");
  return a.index() == b.index() && x == y;
}

std::vector<std::string> names_of(const ScoredRows& scored) {
  std::vector<std::string> names{scored.model.name};
  for (const Forecasts& f : scored.baselines.forecasts) names.push_back(f.name);
  return names;
}

std::vector<Forecasts*> forecasters(ScoredRows& scored) {
  std::vector<Forecasts*> all{&scored.model};
  for (Forecasts& f : scored.baselines.forecasts) all.push_back(&f);
  return all;
}

void take_row(const Json& json, ScoredRows& to) {
  EvaluationRows& rows = to.rows;
  rows.times.push_back(from_nanos(json.at("t")));
  rows.sessions.push_back(parse_date(json.at("session").get<std::string>()));
  rows.outcomes.push_back(json.at("outcome"));
  if (json.contains("label")) rows.labels.push_back(json["label"]);
  if (json.contains("hour")) rows.hours.push_back(json["hour"]);
  const std::size_t width = forecast_width(to.task);
  const Json& said = json.at("said");
  const std::vector<Forecasts*> all = forecasters(to);
  if (said.size() != all.size() * width)
    throw FormatError(fmt::format("{} forecasts, not {}", said.size(), all.size() * width));
  for (std::size_t f = 0; f < all.size(); ++f) {
    for (std::size_t k = 0; k < width; ++k) all[f]->values.push_back(said[f * width + k]);
  }
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

std::string to_json_lines(const ScoredRows& scored) {
  const std::size_t width = forecast_width(scored.task);
  const EvaluationRows& rows = scored.rows;
  std::string text = Json{{"task", task_json(scored.task)},
                          {"forecasters", names_of(scored)},
                          {"hour_name", rows.hour_name},
                          {"notes", scored.baselines.notes}}
                         .dump(-1, ' ', false, Json::error_handler_t::replace) +
                     "\n";
  std::vector<const Forecasts*> all{&scored.model};
  for (const Forecasts& f : scored.baselines.forecasts) all.push_back(&f);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Json line{{"t", count(rows.times[i])},
              {"session", to_string(rows.sessions[i])},
              {"outcome", rows.outcomes[i]}};
    if (!rows.labels.empty()) line["label"] = rows.labels[i];
    if (!rows.hours.empty()) line["hour"] = rows.hours[i];
    Json& said = line["said"] = Json::array();
    for (const Forecasts* f : all) {
      for (std::size_t k = 0; k < width; ++k) said.push_back(f->values[i * width + k]);
    }
    text += line.dump() + "\n";
  }
  return text;
}

ScoredRows parse_scored_rows(const std::string& text, const std::string& name) {
  ScoredRows scored;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    try {
      const Json json = Json::parse(line);
      if (number > 1) {
        take_row(json, scored);
        continue;
      }
      scored.task = task_of(json.at("task"));
      const std::vector<std::string> names = json.at("forecasters");
      scored.model.name = names.at(0);
      for (std::size_t i = 1; i < names.size(); ++i)
        scored.baselines.forecasts.push_back({names[i], {}});
      scored.rows.hour_name = json.at("hour_name");
      scored.baselines.notes = json.at("notes");
    } catch (const std::exception& error) {
      throw FormatError(fmt::format("{}:{}: {}", name, number, error.what()));
    }
  }
  if (scored.model.name.empty()) throw FormatError(fmt::format("{}: is empty", name));
  return scored;
}

ScoredRows pooled(const std::vector<ScoredRows>& parts) {
  if (parts.empty()) throw ShapeError("[evaluation] there are no parts to judge as one");
  ScoredRows all = parts.front();
  double mean = 0;
  std::size_t total = 0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    const ScoredRows& part = parts[p];
    if (const auto* numbers = std::get_if<RegressionTask>(&part.task))
      mean += numbers->train_mean * static_cast<double>(part.rows.size());
    total += part.rows.size();
    if (p == 0) continue;
    if (!alike(part.task, all.task) || names_of(part) != names_of(all)) {
      throw ShapeError(
          fmt::format("[evaluation] part {} was asked otherwise than part 1: other forecasters or "
                      "another task",
                      p + 1));
    }
    if (!part.rows.times.empty() && !all.rows.times.empty() &&
        part.rows.times.front() <= all.rows.times.back()) {
      throw DataError(fmt::format("[evaluation] part {} begins at {}, before part {} ended", p + 1,
                                  to_string(part.rows.times.front()), p));
    }
    append(all.rows.times, part.rows.times);
    append(all.rows.sessions, part.rows.sessions);
    append(all.rows.outcomes, part.rows.outcomes);
    append(all.rows.labels, part.rows.labels);
    append(all.rows.hours, part.rows.hours);
    append(all.model.values, part.model.values);
    for (std::size_t b = 0; b < all.baselines.forecasts.size(); ++b)
      append(all.baselines.forecasts[b].values, part.baselines.forecasts[b].values);
    append(all.baselines.notes, part.baselines.notes);
  }
  if (auto* numbers = std::get_if<RegressionTask>(&all.task))
    numbers->train_mean = total > 0 ? mean / static_cast<double>(total) : 0;
  return all;
}

}  // namespace foxhunt::evaluation
