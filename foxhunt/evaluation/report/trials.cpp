#include "foxhunt/evaluation/report/trials.h"

#include <fmt/format.h>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/report.h"

namespace foxhunt::evaluation {
namespace {

/// Differences are model minus baseline; a gain is above 0 where the model is better.
Value gain_of(const Comparison& c) {
  if (!c.difference) return c.difference;
  return Value::of(c.metric.better == Better::kLower ? -*c.difference : *c.difference);
}

std::string looks(std::int64_t n) {
  return fmt::format("{} set{} of weights {} been tried", count_text(static_cast<double>(n)),
                     n == 1 ? "" : "s", n == 1 ? "has" : "have");
}

}  // namespace

void set_trials(EvaluationReport& report, std::int64_t trials, std::int64_t related,
                const std::string& data_set) {
  Trials& to = report.trials;
  to = {.count = trials, .not_counted = {}, .related = related, .data_set = data_set};
  if (report.comparisons.empty()) return;
  const Comparison& main = report.comparisons.front();
  to.deflated.push_back({.metric = main.metric.name,
                         .baseline = main.baseline,
                         .result = deflate(gain_of(main), main.standard_error, trials)});
  if (const MetricResult* ic = report.model.find("rank_ic")) {
    to.deflated.push_back({.metric = "rank_ic",
                           .baseline = {},
                           .result = deflate(ic->value, ic->standard_error, trials)});
  }
  const Deflated& headline = to.deflated.front().result;
  if (trials > 1 && headline.probability) {
    report.verdict.lines.push_back(fmt::format(
        "{} on these rows: a gain of {} is what the best of them shows by chance, so the gain of "
        "this one is real with probability {}.",
        looks(trials), number_text(*headline.chance), number_text(*headline.probability, 1)));
  }
}

std::string trials_text(const Trials& trials) {
  if (!trials.count) return fmt::format("Not counted: {}.", trials.not_counted);
  std::string text = fmt::format("{} on these rows, this one included", looks(*trials.count));
  if (trials.related > 0) {
    text += fmt::format("; {} more in the same time on other files or labels, not counted here",
                        count_text(static_cast<double>(trials.related)));
  }
  return text + fmt::format(". {}.", kDeflationFormula);
}

}  // namespace foxhunt::evaluation
