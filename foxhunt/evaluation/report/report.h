#pragma once
// The answer to "how good is it, and how sure is that": plain numbers, each with the reason where
// it has none.

#include <cstddef>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/evaluation/metrics/calibration.h"
#include "foxhunt/evaluation/metrics/classification.h"
#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/report/scorer.h"
#include "foxhunt/evaluation/report/task.h"
#include "foxhunt/evaluation/report/trials.h"

namespace foxhunt::evaluation {

struct MetricResult {
  MetricInfo metric;
  Value value;
  Interval interval;
  Value standard_error{};
};

struct ForecasterResult {
  std::string name;
  std::vector<MetricResult> metrics;  ///< in the order of metrics_of()

  /// nullptr when there is none of that name.
  const MetricResult* find(const std::string& metric) const;
};

enum class Winner { kModel, kBaseline, kNeither, kUnknown };

/// Model minus baseline on the same resamples, for a metric that has a better direction.
struct Comparison {
  MetricInfo metric;
  std::string
      baseline;  ///< the one with the best value of this metric; empty when none has a value
  Value difference;
  Interval interval;
  Value standard_error{};  ///< of the difference
  /// kModel or kBaseline where the whole interval lies on their side of zero, kNeither where it
  /// holds zero, kUnknown where there is none. The best of several baselines is a little lucky:
  /// that is against the model, on purpose.
  Winner winner = Winner::kUnknown;
};

/// The rows of one session, or of one hour.
struct GroupResult {
  std::string key;
  std::size_t rows = 0;
  std::vector<Value> model;  ///< for each of Breakdown::metrics
  Value baseline_loss;       ///< of Breakdown::baseline, the first metric
};

struct Breakdown {
  std::string by;                    ///< "session", "UTC hour"
  std::vector<std::string> metrics;  ///< the main metric first
  std::string baseline;  ///< the best of the main metric over all rows; empty without baselines
  std::vector<GroupResult> groups;
};

enum class Edge { kShown, kNone, kWorse, kUnknown };

struct Verdict {
  Edge edge = Edge::kUnknown;
  std::vector<std::string> lines;  ///< plain sentences, the judgement first
};

struct EvaluationReport {
  Task task;
  std::size_t rows = 0;
  std::size_t sessions = 0;
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;

  double level = 0.95;  ///< of all intervals
  std::size_t resamples = 0;
  std::string blocks;          ///< how rows were resampled, in words
  std::size_t block_rows = 0;  ///< 0 when whole sessions were drawn

  ForecasterResult model;
  std::vector<ForecasterResult> baselines;
  std::vector<Comparison> comparisons;
  Breakdown by_session;
  Breakdown by_hour;
  Confusion confusion;                        ///< classification only
  std::vector<ClassCalibration> calibration;  ///< [K] of the model, classification only
  Trials trials;  ///< how often these rows were looked at, and the gain less what that explains
  Verdict verdict;
  std::vector<std::string> notes;  ///< on the baselines and the resampling
};

/// The judgement on a report whose other parts are complete.
Verdict judge(const EvaluationReport& report);

/// One JSON object. Fixed names: `rows`, `metrics.<name>.{value,lo,hi}`,
/// `baselines.<baseline>.<metric>` (a number). What is undefined is null, with its reason beside it
/// under `reason` or `reasons`.
std::string to_json(const EvaluationReport& report, int indent = 2);

/// Aligned tables of at most 100 columns, ending with the verdict.
std::string to_text(const EvaluationReport& report);

}  // namespace foxhunt::evaluation
