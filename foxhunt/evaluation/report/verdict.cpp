#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/report.h"

namespace foxhunt::evaluation {
namespace {

constexpr std::size_t kFewSessions = 20;

double scale_of(const Interval& i) {
  return i.defined() ? std::max(std::abs(*i.lo), std::abs(*i.hi)) : 0.0;
}

std::string range_text(const Interval& interval, double level) {
  const double scale = scale_of(interval);
  return fmt::format("{:g} % interval {} to {}", level * 100,
                     signed_number_text(*interval.lo, scale),
                     signed_number_text(*interval.hi, scale));
}

const Comparison* find(const EvaluationReport& report, const std::string& metric) {
  const auto at = std::find_if(report.comparisons.begin(), report.comparisons.end(),
                               [&](const Comparison& c) { return c.metric.name == metric; });
  return at == report.comparisons.end() ? nullptr : &*at;
}

/// "log_loss 1.0701 against 1.0698 of prior, the best baseline: difference +0.0003"
std::string against(const EvaluationReport& report, const Comparison& c) {
  const double own = *report.model.find(c.metric.name)->value;
  const double difference = *c.difference;
  return fmt::format(
      "{} {} against {} of {}, the best baseline: difference {}", c.metric.name, number_text(own),
      number_text(own - difference), c.baseline,
      signed_number_text(difference, std::max(std::abs(difference), scale_of(c.interval))));
}

/// The judgement by the main loss.
Verdict by_main_loss(const EvaluationReport& report, const Comparison& main) {
  if (report.baselines.empty())
    return {Edge::kUnknown, {"No judgement: there is no baseline on these rows."}};
  if (!main.difference) {
    return {Edge::kUnknown,
            {fmt::format("No judgement: {}: {}.", main.metric.name, main.difference.reason())}};
  }
  const std::string text = against(report, main);
  if (!main.interval.defined()) {
    return {Edge::kUnknown,
            {fmt::format("No judgement: {}, {}.", text, main.interval.lo.reason())}};
  }
  const std::string range = range_text(main.interval, report.level);
  switch (main.winner) {
    case Winner::kModel:
      return {Edge::kShown, {fmt::format("The model shows an edge: {}, {}.", text, range)}};
    case Winner::kBaseline:
      return {Edge::kWorse, {fmt::format("No edge, the model is worse: {}, {}.", text, range)}};
    default:
      return {Edge::kNone,
              {fmt::format("The model shows no edge: {}, {}, which includes zero.", text, range)}};
  }
}

/// What another headline metric says.
std::string by_metric(const EvaluationReport& report, const Comparison& c) {
  const MetricResult& own = *report.model.find(c.metric.name);
  if (!own.value) return fmt::format("{}: no value ({}).", c.metric.name, own.value.reason());
  if (!c.difference) {
    if (!own.interval.defined())
      return fmt::format("{} {}.", c.metric.name, number_text(*own.value));
    return fmt::format("{} {}, {}, {} zero; {}.", c.metric.name, number_text(*own.value),
                       range_text(own.interval, report.level),
                       own.interval.contains(0) ? "which includes" : "away from",
                       c.difference.reason());
  }
  const std::string text = against(report, c);
  if (!c.interval.defined()) return fmt::format("{}, {}.", text, c.interval.lo.reason());
  const char* judgement = c.winner == Winner::kModel      ? "better"
                          : c.winner == Winner::kBaseline ? "worse"
                                                          : "no difference shown";
  return fmt::format("{}, {}: {}.", text, range_text(c.interval, report.level), judgement);
}

}  // namespace

Verdict judge(const EvaluationReport& report) {
  Verdict verdict = by_main_loss(report, report.comparisons.front());
  const bool classes = std::holds_alternative<ClassificationTask>(report.task);
  for (const char* metric : {"accuracy", "rank_ic"}) {
    if (!classes && std::string_view(metric) == "accuracy") continue;
    if (const Comparison* c = find(report, metric)) verdict.lines.push_back(by_metric(report, *c));
  }
  if (report.sessions < kFewSessions) {
    verdict.lines.push_back(fmt::format(
        "{} session{} of data: the intervals speak for days like these, not for other markets.",
        report.sessions, report.sessions == 1 ? "" : "s"));
  }
  if (verdict.edge == Edge::kShown) {
    verdict.lines.push_back(
        "An edge in forecasts is not yet a profit: costs and fills are not in it.");
  }
  return verdict;
}

const MetricResult* ForecasterResult::find(const std::string& metric) const {
  const auto at = std::find_if(metrics.begin(), metrics.end(),
                               [&](const MetricResult& m) { return m.metric.name == metric; });
  return at == metrics.end() ? nullptr : &*at;
}

}  // namespace foxhunt::evaluation
