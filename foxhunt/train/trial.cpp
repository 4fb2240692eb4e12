#include "foxhunt/train/trial.h"

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"
#include "foxhunt/config/config.h"

namespace foxhunt::train {
namespace {

namespace ev = foxhunt::evaluation;

std::optional<double> number(const ev::Value& value) {
  return value ? std::optional(*value) : std::nullopt;
}

void take_numbers(const ev::EvaluationReport& report, ledger::Evaluation& to) {
  to.rows = static_cast<std::int64_t>(report.rows);
  to.first = report.first;
  to.last = report.last;
  to.git_revision = git_revision();
  if (!report.model.metrics.empty()) {
    to.metric = report.model.metrics.front().metric.name;
    to.value = number(report.model.metrics.front().value);
  }
  if (const ev::MetricResult* ic = report.model.find("rank_ic")) to.rank_ic = number(ic->value);
  if (report.comparisons.empty()) return;
  const ev::Comparison& main = report.comparisons.front();
  const double sign = main.metric.better == ev::Better::kLower ? -1 : 1;
  to.baseline = main.baseline;
  to.standard_error = number(main.standard_error);
  if (main.difference) to.gain = sign * *main.difference;
  if (!main.interval.defined()) return;
  to.lo = sign * *(sign > 0 ? main.interval.lo : main.interval.hi);
  to.hi = sign * *(sign > 0 ? main.interval.hi : main.interval.lo);
}

}  // namespace

ledger::DataSet data_set_of(const ExperimentConfig& config, const std::vector<DataFile>& files) {
  ledger::DataSet set{.product = config.data.product,
                      .symbol = config.data.symbol,
                      .label = config::dump(config.label)};
  for (const DataFile& file : files) set.files.push_back(file.sha256);
  return set;
}

void count_trial(ev::EvaluationReport& report, ledger::Evaluation evaluation,
                 const std::filesystem::path& path) {
  take_numbers(report, evaluation);
  if (path.empty()) return;
  try {
    ledger::Ledger book = ledger::Ledger::open_to_write(path);
    ledger::record(book, evaluation);
    const ledger::TrialCount count = ledger::count_trials(book, evaluation);
    ev::set_trials(report, count.trials, count.related, evaluation.data.id());
  } catch (const Error& error) {
    report.trials.not_counted = error.what();
    log::warn(
        "this evaluation is not counted, so later ones will look better than they are: {}; "
        "evaluate again once it can be written (the same weights count once)",
        error.what());
  }
}

}  // namespace foxhunt::train
