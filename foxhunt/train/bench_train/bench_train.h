#pragma once
// Door: what a training will take and cost on this machine, measured. Torch-free.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/train/bench_train/bench_report.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct TrainBenchOptions {
  std::filesystem::path out{};         ///< folder of the files below
  std::vector<std::string> devices{};  ///< empty: the CPU and every GPU that there is
  std::vector<std::string> precisions{"fp32", "bf16"};
  std::vector<std::string> kernels{"native", "aten"};
  std::vector<std::int64_t> batches{};  ///< empty: powers of two up to most_batch, and the own
  std::int64_t most_batch = 0;          ///< 0: 256, brief 64
  bool brief = false;                   ///< powers of four, wider intervals, minutes
  double budget_seconds = 0;            ///< 0: 30 minutes, brief 5
  double target_share = 0;        ///< width of an interval that ends a case; 0: 0.05, brief 0.1
  std::int64_t memory_bytes = 0;  ///< of each device; 0: what is free there
  std::optional<double> price_per_hour{};
  TrainingTask task{};
  bool fresh = false;  ///< what was measured before counts no more
  ProgressMode progress = ProgressMode::kAuto;
  /// Bytes that a case needs; null: a line through measured peaks.
  std::function<std::int64_t(const BenchCase&)> estimate{};
};

/// Measures every setting in turns on made-up rows, and writes bench-train.json, bench-train.md and
/// bench-train.html into the folder; each visit goes into bench-train.visits.jsonl at once, from
/// which the same call goes on. Errors  ConfigError, UsageError; DeviceError: a named device that
/// is not there; IoError; InterruptedError: what there is was written.
BenchReport bench_train(const ExperimentConfig& config, const TrainBenchOptions& options);

}  // namespace foxhunt::train
