#pragma once
// Looks for better settings by the validation loss, and by nothing else: the test part is never
// read. The door of `foxhunt tune`. Torch-free: every trial is this program again in a process of
// its own.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/experiments/tune_ranges.h"
#include "foxhunt/experiments/tune_state.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::experiments {

struct TuneOptions {
  std::filesystem::path out{};
  bool overwrite = false;  ///< an earlier search there may go
  std::string device = "cpu";
  std::int64_t parallel = 1;                ///< trials at once; the cores are shared out
  std::filesystem::path ledger{};           ///< where trials are counted, on the validation rows
  std::vector<std::string> config_files{};  ///< for messages
};

struct TuneReport {
  std::filesystem::path folder{};
  std::vector<Range> ranges{};
  std::vector<std::int64_t> rungs{};  ///< epochs
  std::vector<Trial> trials{};
  std::optional<std::size_t> best{};  ///< none where all failed
  std::int64_t failed = 0;
  std::string counted{};  ///< what the ledger says, or why nothing was counted

  std::int64_t looked_at() const { return static_cast<std::int64_t>(trials.size()) - failed; }
};

/// Draws, trains, chooses. The folder: tune.json (state), trial-NNN.toml, trial-NNN/ (a run),
/// trial-NNN.log, best.toml, tune-report.json, tune.txt, tune.svg. A folder that holds a search
/// of the same configuration is gone on with: what ended stays, what was cut off goes on. Trials
/// that fail are recorded with their error and the search goes on.
/// Errors  ConfigError: ranges, another search's folder; DataError: the data; NotConvergedError:
///         every trial failed; InterruptedError after everything was saved.
TuneReport tune(const train::ExperimentConfig& config, const TuneOptions& options);

std::string to_text(const TuneReport& report);
std::string to_json(const TuneReport& report);
std::string to_svg(const TuneReport& report);

}  // namespace foxhunt::experiments
