#pragma once
// The door to what a trained model remembers with: which parts of its state it uses, and a smaller
// model without the others. Torch-free.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/performance.h"
#include "foxhunt/nn/state_usage.h"
#include "foxhunt/train/prune_search.h"

namespace foxhunt::train {

struct InspectOptions {
  std::string split = "valid";  ///< whose rows to measure on
  std::int64_t rows = 0;        ///< at most so many, the earliest; 0: all
  std::string device = "cpu";
};

struct InspectReport {
  std::filesystem::path run{};
  std::string split{};
  model::Mamba2Config config{};
  nn::PerformanceMetrics cost{};  ///< of a step
  nn::StateUsage usage{};
};

/// Runs the rows through the run's best model, each sequence from its first row to the last one of
/// the part. The same run gives the same report. Writes nothing.
/// Errors  UsageError, DeviceError; DataError: no run, data changed, no row in the part.
InspectReport inspect(const std::filesystem::path& run, const InspectOptions& options);

std::string to_text(const InspectReport& report);
/// A memory that never decays is null.
std::string to_json(const InspectReport& report);
/// Importance by layer and column, and memory by head: one self-contained document.
std::string to_svg(const InspectReport& report);

struct PruneOptions {
  double bound = 0;             ///< how much the mean validation loss may rise, in its own unit
  std::filesystem::path out{};  ///< the new run folder
  bool overwrite = false;       ///< an earlier run there may go
  InspectOptions measure{};     ///< what ranks the columns
  std::vector<std::string> command_line{};
};

struct PruneReport {
  std::filesystem::path from{};
  std::filesystem::path run{};
  std::string split{};  ///< and rows that ranked the columns
  std::int64_t rows = 0;
  double bound = 0;
  std::int64_t d_state_before = 0;
  std::int64_t d_state = 0;
  double loss_before = 0;  ///< mean over the labelled validation rows, as training measures it
  double loss = 0;
  nn::PerformanceMetrics cost_before{};  ///< of a step
  nn::PerformanceMetrics cost{};
  nn::ColumnChoice kept{};
  std::vector<PruneTrial> trials{};
  std::string weights_before_sha256{};
  std::string weights_sha256{};
};

/// Cuts the least important columns out of every layer, as many as the bound allows, and writes the
/// smaller model as a run of its own, which evaluate and predict take: configuration with the new
/// model.d_state, data.lock, one checkpoint (its optimiser starts anew), and pruned.json, the
/// report. Labels of the validation rows choose the size, as they choose the epoch in training; the
/// test rows are not looked at. Errors  UsageError: a bound that is negative or not finite, or the
/// test part to rank by; ConfigError: `out` is in use, or `run` itself; NotConvergedError: no
/// smaller state fits the bound, nothing is written; and those of inspect().
PruneReport prune(const std::filesystem::path& run, const PruneOptions& options);

std::string to_text(const PruneReport& report);
std::string to_json(const PruneReport& report);

}  // namespace foxhunt::train
