
#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/report.h"

namespace foxhunt::evaluation {
namespace {

using Json = nlohmann::ordered_json;

Json number(const Value& v) { return v ? Json(*v) : Json(nullptr); }

/// {lo, hi} with the reason where there is none.
Json range(const Interval& i) {
  Json json{{"lo", number(i.lo)}, {"hi", number(i.hi)}};
  if (!i.defined()) json["reason"] = (i.lo.defined() ? i.hi : i.lo).reason();
  return json;
}

/// {value, lo, hi} with the reason of the first that is null.
Json with_range(const char* name, const Value& v, const Interval& i) {
  Json json{{name, number(v)}};
  if (!v) json["reason"] = v.reason();
  const Json ends = range(i);
  for (const auto& [key, item] : ends.items()) {
    if (!json.contains(key)) json[key] = item;
  }
  return json;
}

const char* text(Edge edge) {
  switch (edge) {
    case Edge::kShown:
      return "shown";
    case Edge::kNone:
      return "none";
    case Edge::kWorse:
      return "worse";
    case Edge::kUnknown:
      break;
  }
  return "unknown";
}

const char* text(Winner winner) {
  switch (winner) {
    case Winner::kModel:
      return "model";
    case Winner::kBaseline:
      return "baseline";
    case Winner::kNeither:
      return "neither";
    case Winner::kUnknown:
      break;
  }
  return "unknown";
}

Json task_json(const Task& task) {
  if (const auto* classes = std::get_if<ClassificationTask>(&task)) {
    return {{"kind", "classification"}, {"classes", classes->class_names}};
  }
  if (const auto* numbers = std::get_if<RegressionTask>(&task)) {
    return {{"kind", "regression"}, {"train_mean", numbers->train_mean}};
  }
  return {{"kind", "quantiles"}, {"levels", std::get<QuantileTask>(task).levels}};
}

void add_baselines(const EvaluationReport& report, Json& json) {
  json["baselines"] = Json::object();
  json["baseline_intervals"] = Json::object();
  for (const ForecasterResult& b : report.baselines) {
    Json values = Json::object();
    Json ranges = Json::object();
    for (const MetricResult& m : b.metrics) {
      values[m.metric.name] = number(m.value);
      ranges[m.metric.name] = range(m.interval);  // its reason is that of a null value, too
    }
    json["baselines"][b.name] = std::move(values);
    json["baseline_intervals"][b.name] = std::move(ranges);
  }
}

void add_comparisons(const EvaluationReport& report, Json& json) {
  json["vs_best_baseline"] = Json::object();
  for (const Comparison& c : report.comparisons) {
    Json item{{"baseline", c.baseline.empty() ? Json(nullptr) : Json(c.baseline)}};
    item.update(with_range("difference", c.difference, c.interval));
    item["better"] = text(c.winner);
    json["vs_best_baseline"][c.metric.name] = std::move(item);
  }
}

void add_trials(const Trials& trials, Json& json) {
  json["trials"] = {{"count", trials.count ? Json(*trials.count) : Json(nullptr)}};
  if (!trials.count) json["trials"]["reason"] = "not counted: " + trials.not_counted;
  json["trials"]["related"] = trials.related;
  json["trials"]["data_set"] = trials.data_set.empty() ? Json(nullptr) : Json(trials.data_set);
  json["deflated"] = Json::object();
  for (const DeflatedMetric& d : trials.deflated) {
    Json item{{"baseline", d.baseline.empty() ? Json(nullptr) : Json(d.baseline)},
              {"gain", number(d.result.gain)},
              {"standard_error", number(d.result.standard_error)},
              {"chance", number(d.result.chance)},
              {"deflated", number(d.result.deflated)},
              {"probability", number(d.result.probability)}};
    if (!d.result.probability) item["reason"] = d.result.probability.reason();
    json["deflated"][d.metric] = std::move(item);
  }
  json["deflated_formula"] = kDeflationFormula;
}

void add_classes(const EvaluationReport& report, Json& json) {
  const auto* task = std::get_if<ClassificationTask>(&report.task);
  if (task == nullptr) return;
  const std::size_t n = task->class_names.size();
  Json counts = Json::array();
  Json per_class = Json::object();
  Json calibration = Json::object();
  for (std::size_t k = 0; k < n; ++k) {
    Json row = Json::array();
    for (std::size_t j = 0; j < n; ++j) row.push_back(report.confusion.at(k, j));
    counts.push_back(std::move(row));
    per_class[task->class_names[k]] = {{"rows", report.confusion.true_rows(k)},
                                       {"precision", number(report.confusion.precision(k))},
                                       {"recall", number(report.confusion.recall(k))},
                                       {"f1", number(report.confusion.f1(k))}};
    Json bins = Json::array();
    for (const CalibrationBin& bin : report.calibration[k].bins) {
      Json item{{"rows", bin.rows}, {"predicted", number(bin.predicted)}};
      item.update(with_range("observed", bin.observed, bin.interval));
      bins.push_back(std::move(item));
    }
    calibration[task->class_names[k]] = {{"ece", number(report.calibration[k].ece)},
                                         {"bins", std::move(bins)}};
  }
  json["confusion"] = {{"rows", "truth"}, {"columns", "prediction"}, {"counts", std::move(counts)}};
  json["per_class"] = std::move(per_class);
  json["calibration"] = std::move(calibration);
}

Json breakdown_json(const Breakdown& breakdown) {
  Json groups = Json::array();
  for (const GroupResult& group : breakdown.groups) {
    Json item{{"key", group.key},
              {"rows", group.rows},
              {"metrics", Json::object()},
              {"reasons", Json::object()}};
    for (std::size_t m = 0; m < breakdown.metrics.size(); ++m) {
      item["metrics"][breakdown.metrics[m]] = number(group.model[m]);
      if (!group.model[m]) item["reasons"][breakdown.metrics[m]] = group.model[m].reason();
    }
    if (item["reasons"].empty()) item.erase("reasons");
    if (!breakdown.baseline.empty()) {
      item["baseline"] = {{"name", breakdown.baseline},
                          {breakdown.metrics.front(), number(group.baseline_loss)}};
    }
    groups.push_back(std::move(item));
  }
  return {{"by", breakdown.by}, {"groups", std::move(groups)}};
}

}  // namespace

std::string to_json(const EvaluationReport& report, int indent) {
  Json json{{"rows", report.rows},
            {"sessions", report.sessions},
            {"first", to_string(report.first)},
            {"last", to_string(report.last)},
            {"task", task_json(report.task)},
            {"intervals",
             {{"level", report.level},
              {"resamples", report.resamples},
              {"blocks", report.blocks},
              {"block_rows", report.block_rows == 0 ? Json(nullptr) : Json(report.block_rows)}}},
            {"verdict", {{"edge", text(report.verdict.edge)}, {"text", report.verdict.lines}}},
            {"metrics", Json::object()}};
  for (const MetricResult& m : report.model.metrics) {
    json["metrics"][m.metric.name] = with_range("value", m.value, m.interval);
  }
  add_baselines(report, json);
  add_comparisons(report, json);
  add_trials(report.trials, json);
  add_classes(report, json);
  json["by_session"] = breakdown_json(report.by_session);
  json["by_hour"] = breakdown_json(report.by_hour);
  json["notes"] = report.notes;
  // Names come from configurations: bytes that are no UTF-8 must not throw here.
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace foxhunt::evaluation
