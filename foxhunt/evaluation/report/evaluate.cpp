#include "foxhunt/evaluation/report/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/report/breakdown.h"
#include "foxhunt/evaluation/resampling/block_length.h"

namespace foxhunt::evaluation {
namespace {

std::vector<std::size_t> session_starts(const std::vector<Date>& sessions) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    if (i == 0 || sessions[i] != sessions[i - 1]) starts.push_back(i);
  }
  return starts;
}

std::size_t automatic_length(const AutomaticBlocks& rule, const std::vector<Scorer>& scorers) {
  const std::vector<double>& model = scorers.front().row_losses;
  const std::size_t n = model.size();
  std::size_t length =
      std::max({static_cast<std::size_t>(std::ceil(std::cbrt(static_cast<double>(n)))),
                rule.horizon_rows, automatic_block_length(model)});
  for (std::size_t b = 1; b < scorers.size(); ++b) {
    std::vector<double> difference(n);
    for (std::size_t i = 0; i < n; ++i) difference[i] = model[i] - scorers[b].row_losses[i];
    length = std::max(length, automatic_block_length(difference));
  }
  return length;
}

/// Picks the blocks and says so in the report.
BlockResampler pick_blocks(const EvaluationOptions& options, const EvaluationRows& rows,
                           const std::vector<Scorer>& scorers, EvaluationReport& report) {
  if (std::holds_alternative<SessionBlocks>(options.blocks)) {
    report.blocks = fmt::format("{} whole sessions", report.sessions);
    return BlockResampler::groups(rows.size(), session_starts(rows.sessions));
  }
  const char* kind = "fixed";
  std::size_t length = 0;
  if (const auto* fixed = std::get_if<FixedBlocks>(&options.blocks)) {
    length = fixed->rows;
  } else {
    const auto& rule = std::get<AutomaticBlocks>(options.blocks);
    kind = "automatic";
    length = automatic_length(rule, scorers);
    const std::size_t longest =
        std::max({rows.size() / kLeastBlocks, rule.horizon_rows, std::size_t{1}});
    if (length > longest) {
      report.notes.push_back(
          fmt::format("The rows ask for blocks of {}, but only {} leave {} blocks: the intervals "
                      "are a little too narrow.",
                      length, longest, kLeastBlocks));
      length = longest;
    }
  }
  report.block_rows = length;
  report.blocks = fmt::format("circular blocks of {} rows ({})", length, kind);
  return BlockResampler::circular(rows.size(), length);
}

/// The metrics of all forecasters side by side, then the observed share of every calibration bin of
/// the model.
struct Columns {
  std::size_t n_metrics = 0;
  std::size_t n_forecasters = 0;
  std::size_t metric(std::size_t forecaster, std::size_t m) const {
    return forecaster * n_metrics + m;
  }
  std::size_t first_bin() const { return n_forecasters * n_metrics; }
};

Replicates resample(const BlockResampler& blocks, const std::vector<Scorer>& scorers,
                    const Columns& columns, const std::optional<Calibrator>& calibrator,
                    std::size_t resamples, Rng& rng) {
  std::size_t n_values = columns.first_bin();
  for (std::size_t k = 0; calibrator && k < calibrator->n_classes(); ++k)
    n_values += calibrator->n_bins(k);
  return bootstrap(
      blocks, resamples, n_values,
      [&](Weights w, std::span<Value> out) {
        for (std::size_t f = 0; f < scorers.size(); ++f) {
          scorers[f].score(w, out.subspan(columns.metric(f, 0), columns.n_metrics));
        }
        if (!calibrator) return;
        std::size_t column = columns.first_bin();
        for (const ClassCalibration& c : calibrator->at(w)) {
          for (const CalibrationBin& bin : c.bins) out[column++] = bin.observed;
        }
      },
      rng);
}

Winner winner_of(Better better, const Interval& interval) {
  if (!interval.defined()) return Winner::kUnknown;
  if (*interval.hi < 0) return better == Better::kLower ? Winner::kModel : Winner::kBaseline;
  if (*interval.lo > 0) return better == Better::kLower ? Winner::kBaseline : Winner::kModel;
  return Winner::kNeither;
}

/// The model against the baseline with the best value of metric `m`.
Comparison compare(const EvaluationReport& report, const Replicates& replicates,
                   const Columns& columns, std::size_t m) {
  const MetricResult& own = report.model.metrics[m];
  constexpr const char* kNone = "no baseline has a value";
  Comparison result{.metric = own.metric,
                    .baseline = {},
                    .difference = Value::undefined(kNone),
                    .interval = Interval::undefined(kNone)};
  const double sign = own.metric.better == Better::kLower ? 1 : -1;
  std::optional<std::size_t> best;
  for (std::size_t b = 0; b < report.baselines.size(); ++b) {
    const Value value = report.baselines[b].metrics[m].value;
    if (value && (!best || sign * *value < sign * *report.baselines[*best].metrics[m].value))
      best = b;
  }
  if (!best) return result;
  result.baseline = report.baselines[*best].name;
  if (!own.value) {
    result.difference = own.value;
    result.interval = Interval::undefined(own.value.reason());
    return result;
  }
  result.difference = Value::of(*own.value - *report.baselines[*best].metrics[m].value);
  result.interval = difference_interval(replicates, columns.metric(0, m),
                                        columns.metric(*best + 1, m), report.level);
  result.standard_error =
      standard_error(replicates, columns.metric(0, m), columns.metric(*best + 1, m));
  result.winner = winner_of(own.metric.better, result.interval);
  return result;
}

void check_names(const Forecasts& model, const Baselines& baselines) {
  std::set<std::string> names{model.name};
  for (const Forecasts& b : baselines.forecasts) {
    if (b.name.empty() || !names.insert(b.name).second) {
      throw ShapeError(
          fmt::format("[evaluation] forecaster name '{}' is empty or there twice", b.name));
    }
  }
}

ForecasterResult result_of(const std::string& name, const Scorer& scorer,
                           const std::vector<MetricInfo>& metrics, const Replicates& replicates,
                           const Columns& columns, std::size_t f, double level) {
  std::vector<Value> values(metrics.size());
  scorer.score({}, values);
  ForecasterResult result{name, {}};
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    Interval range = Interval::undefined(values[m].reason());
    if (values[m] && metrics[m].raised_by_noise) {
      range = reflected_interval(replicates, columns.metric(f, m), level, *values[m]);
    } else if (values[m]) {
      range = interval(replicates, columns.metric(f, m), level);
    }
    result.metrics.push_back({metrics[m], values[m], range,
                              values[m] ? standard_error(replicates, columns.metric(f, m))
                                        : Value::undefined(values[m].reason())});
  }
  return result;
}

void add_classes(const ClassificationTask& task, const EvaluationRows& rows, const Forecasts& model,
                 const Calibrator& calibrator, const Replicates& replicates, std::size_t first_bin,
                 EvaluationReport& report) {
  const RowMatrix p{model.values, task.class_names.size()};
  report.confusion = confusion(p.cols, rows.labels, predicted_classes(p));
  report.calibration = calibrator.at();
  std::size_t column = first_bin;
  for (ClassCalibration& c : report.calibration) {
    for (CalibrationBin& bin : c.bins) bin.interval = interval(replicates, column++, report.level);
  }
}

}  // namespace

EvaluationReport evaluate(const EvaluationRows& rows, const Task& task, const Forecasts& model,
                          const Baselines& baselines, const EvaluationOptions& options,
                          const Rng& rng) {
  check_rows(rows, task);
  check_names(model, baselines);
  std::vector<Scorer> scorers{make_scorer(task, rows, model, options.calibration_bins)};
  for (const Forecasts& b : baselines.forecasts) {
    scorers.push_back(make_scorer(task, rows, b, options.calibration_bins));
  }
  EvaluationReport report;
  report.task = task;
  report.rows = rows.size();
  report.sessions = session_starts(rows.sessions).size();
  report.first = rows.times.front();
  report.last = rows.times.back();
  report.level = options.level;
  report.resamples = options.resamples;
  report.notes = baselines.notes;

  const auto* classes = std::get_if<ClassificationTask>(&task);
  std::optional<Calibrator> calibrator;
  if (classes != nullptr) {
    calibrator.emplace(RowMatrix{model.values, classes->class_names.size()}, rows.labels,
                       options.calibration_bins);
  }
  const std::vector<MetricInfo> metrics = metrics_of(task);
  const Columns columns{.n_metrics = metrics.size(), .n_forecasters = scorers.size()};
  const BlockResampler blocks = pick_blocks(options, rows, scorers, report);
  Rng draws = rng.split("bootstrap");
  const Replicates replicates =
      resample(blocks, scorers, columns, calibrator, options.resamples, draws);

  report.model = result_of(model.name, scorers[0], metrics, replicates, columns, 0, options.level);
  for (std::size_t b = 0; b < baselines.forecasts.size(); ++b) {
    report.baselines.push_back(result_of(baselines.forecasts[b].name, scorers[b + 1], metrics,
                                         replicates, columns, b + 1, options.level));
  }
  for (std::size_t m = 0; m < metrics.size(); ++m) {
    if (metrics[m].better != Better::kNeither)
      report.comparisons.push_back(compare(report, replicates, columns, m));
  }
  if (classes != nullptr) {
    add_classes(*classes, rows, model, *calibrator, replicates, columns.first_bin(), report);
  }
  const Forecasts* best = nullptr;
  for (const Forecasts& b : baselines.forecasts) {
    if (b.name == report.comparisons.front().baseline) best = &b;
  }
  report.by_session = by_session(rows, task, model, best);
  report.by_hour = by_hour(rows, task, model, best);
  report.verdict = judge(report);
  return report;
}

}  // namespace foxhunt::evaluation
