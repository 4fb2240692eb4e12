#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/evaluation/report/text_table.h"

namespace foxhunt::evaluation {
namespace {

using Cells = std::vector<std::vector<std::string>>;

constexpr const char* kNone = "n/a";

std::string cell(const Value& v, double scale) { return v ? number_text(*v, scale) : kNone; }

std::string cell(const Interval& i, double scale) {
  return i.defined() ? number_text(*i.lo, scale) + " .. " + number_text(*i.hi, scale) : kNone;
}

std::string signed_cell(const Interval& i, double scale) {
  return i.defined() ? signed_number_text(*i.lo, scale) + " .. " + signed_number_text(*i.hi, scale)
                     : kNone;
}

double size_of(const Interval& i) {
  return i.defined() ? std::max(std::abs(*i.lo), std::abs(*i.hi)) : 0.0;
}

std::string level_text(const EvaluationReport& report) {
  return fmt::format("{:g} % interval", report.level * 100);
}

std::string heading(const std::string& title) {
  return "\n" + title + "\n" + std::string(title.size(), '-') + "\n";
}

std::string metrics_table(const EvaluationReport& report) {
  Cells cells{{"", report.model.name, level_text(report)}};
  for (const ForecasterResult& b : report.baselines) cells[0].push_back(b.name);
  std::vector<std::string> footnotes;
  const auto explain = [&](const std::string& who, const MetricResult& m) {
    if (!m.value)
      footnotes.push_back(fmt::format("{} of {}: n/a, {}", m.metric.name, who, m.value.reason()));
  };
  for (std::size_t m = 0; m < report.model.metrics.size(); ++m) {
    const MetricResult& own = report.model.metrics[m];
    double scale = std::abs(own.value.or_else(0));
    for (const ForecasterResult& b : report.baselines) {
      scale = std::max(scale, std::abs(b.metrics[m].value.or_else(0)));
    }
    std::vector<std::string> row{own.metric.name, cell(own.value, scale),
                                 cell(own.interval, scale)};
    explain(report.model.name, own);
    for (const ForecasterResult& b : report.baselines) {
      row.push_back(cell(b.metrics[m].value, scale));
      explain(b.name, b.metrics[m]);
    }
    cells.push_back(std::move(row));
  }
  std::string text = heading("Metrics") + text_table(cells);
  for (const std::string& note : footnotes) text += wrap("  " + note, 4);
  return text;
}

std::string comparison_table(const EvaluationReport& report) {
  Cells cells{{"", "difference", level_text(report), "best baseline", "better"}};
  for (const Comparison& c : report.comparisons) {
    if (c.baseline.empty()) continue;
    const double scale = std::max(std::abs(c.difference.or_else(0)), size_of(c.interval));
    const char* winner = c.winner == Winner::kModel      ? "model"
                         : c.winner == Winner::kBaseline ? "baseline"
                         : c.winner == Winner::kNeither  ? "neither"
                                                         : "unknown";
    cells.push_back({c.metric.name, c.difference ? signed_number_text(*c.difference, scale) : kNone,
                     signed_cell(c.interval, scale), c.baseline, winner});
  }
  if (cells.size() == 1) return {};
  return heading("Model minus the best baseline, on the same resamples") + text_table(cells);
}

std::string trials_table(const Trials& trials) {
  Cells cells{{"", "gain", "standard error", "by chance", "left", "probability"}};
  for (const DeflatedMetric& d : trials.deflated) {
    const Deflated& r = d.result;
    const double scale = std::max(std::abs(r.gain.or_else(0)), std::abs(r.chance.or_else(0)));
    const auto signed_or_none = [&](const Value& v) {
      return v ? signed_number_text(*v, scale) : std::string(kNone);
    };
    cells.push_back({d.metric, signed_or_none(r.gain), cell(r.standard_error, scale),
                     cell(r.chance, scale), signed_or_none(r.deflated), cell(r.probability, 1)});
  }
  std::string text = heading("Gain over the best baseline, less what so many looks show by chance");
  text += wrap(trials_text(trials), 0);
  return trials.count && cells.size() > 1 ? text + text_table(cells) : text;
}

std::string confusion_table(const EvaluationReport& report) {
  const auto* task = std::get_if<ClassificationTask>(&report.task);
  if (task == nullptr) return {};
  Cells cells{{"truth"}};
  for (const std::string& name : task->class_names) cells[0].push_back("as " + name);
  cells[0].insert(cells[0].end(), {"recall", "precision"});
  for (std::size_t i = 0; i < task->class_names.size(); ++i) {
    std::vector<std::string> row{task->class_names[i]};
    for (std::size_t j = 0; j < task->class_names.size(); ++j)
      row.push_back(count_text(report.confusion.at(i, j)));
    row.push_back(cell(report.confusion.recall(i), 1));
    row.push_back(cell(report.confusion.precision(i), 1));
    cells.push_back(std::move(row));
  }
  return heading("Confusion: rows of a class, and what they were predicted as") + text_table(cells);
}

/// The classes side by side; the bins' intervals are in the JSON and the picture, here a star
/// stands for them.
std::string calibration_table(const EvaluationReport& report) {
  const auto* task = std::get_if<ClassificationTask>(&report.task);
  if (task == nullptr) return {};
  Cells cells{{"bin"}};
  std::size_t n_bins = 0;
  for (std::size_t k = 0; k < report.calibration.size(); ++k) {
    cells[0].insert(cells[0].end(), {task->class_names[k], "happened ", "rows"});
    n_bins = std::max(n_bins, report.calibration[k].bins.size());
  }
  for (std::size_t b = 0; b < n_bins; ++b) {
    std::vector<std::string> row{std::to_string(b + 1)};
    for (const ClassCalibration& c : report.calibration) {
      if (b >= c.bins.size()) {
        row.insert(row.end(), {"", "", ""});
        continue;
      }
      const CalibrationBin& bin = c.bins[b];
      const bool off =
          bin.interval.defined() && bin.predicted && !bin.interval.contains(*bin.predicted);
      row.insert(row.end(), {cell(bin.predicted, 1), cell(bin.observed, 1) + (off ? "*" : " "),
                             count_text(bin.rows)});
    }
    cells.push_back(std::move(row));
  }
  std::vector<std::string> errors{"mean error"};
  for (const ClassCalibration& c : report.calibration)
    errors.insert(errors.end(), {cell(c.ece, 1), "", ""});
  cells.push_back(std::move(errors));
  return heading(
             "Calibration: probability said and share that happened (* said lies outside its "
             "interval)") +
         text_table(cells);
}

std::string breakdown_table(const Breakdown& breakdown) {
  Cells cells{{breakdown.by, "rows"}};
  for (const std::string& metric : breakdown.metrics) {
    cells[0].push_back(metric);
    if (&metric == &breakdown.metrics.front() && !breakdown.baseline.empty()) {
      cells[0].push_back(fmt::format("{} of {}", metric, breakdown.baseline));
    }
  }
  std::vector<double> scales(breakdown.metrics.size(), 0.0);
  for (const GroupResult& group : breakdown.groups) {
    for (std::size_t m = 0; m < scales.size(); ++m) {
      scales[m] = std::max(scales[m], std::abs(group.model[m].or_else(0)));
    }
  }
  for (const GroupResult& group : breakdown.groups) {
    std::vector<std::string> row{group.key, count_text(static_cast<double>(group.rows))};
    for (std::size_t m = 0; m < scales.size(); ++m) {
      row.push_back(cell(group.model[m], scales[m]));
      if (m == 0 && !breakdown.baseline.empty())
        row.push_back(cell(group.baseline_loss, scales[0]));
    }
    cells.push_back(std::move(row));
  }
  return heading("By " + breakdown.by) + text_table(cells);
}

}  // namespace

std::string to_text(const EvaluationReport& report) {
  std::string text = wrap(
      fmt::format("Evaluation on {} rows of {} session{}, {} to {}.",
                  count_text(static_cast<double>(report.rows)), report.sessions,
                  report.sessions == 1 ? "" : "s", to_string(report.first), to_string(report.last)),
      0);
  text += wrap(fmt::format("Intervals of {:g} % from {} resamples in {}.", report.level * 100,
                           count_text(static_cast<double>(report.resamples)), report.blocks),
               0);
  text += metrics_table(report);
  text += comparison_table(report);
  text += trials_table(report.trials);
  text += confusion_table(report);
  text += calibration_table(report);
  text += breakdown_table(report.by_session);
  text += breakdown_table(report.by_hour);
  if (!report.notes.empty()) {
    text += heading("Notes");
    for (const std::string& note : report.notes) text += wrap("- " + note, 2);
  }
  text += heading("Verdict");
  for (const std::string& line : report.verdict.lines) text += wrap("- " + line, 2);
  return text;
}

}  // namespace foxhunt::evaluation
