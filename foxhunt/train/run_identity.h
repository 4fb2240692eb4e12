#pragma once
// What the bits of a training follow from, beside its state: configuration, data, program. A resume
// compares it with what the run was begun with. Torch-free.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct RunIdentity {
  std::string config_sha256{};
  std::vector<std::pair<std::string, std::string>> data{};  ///< path, SHA-256
  std::string binary_sha256{};
  std::string libtorch{};         ///< its version
  std::string instruction_set{};  ///< of the CPU kernels: another one rounds otherwise

  std::string to_json() const;
  /// Errors  FormatError.
  static RunIdentity from_json(const std::string& text);
};

/// Of this process. Cost  reads the program file, once a process.
RunIdentity identity_of(const std::string& config_sha256, const std::vector<DataFile>& data,
                        const std::string& libtorch);

/// A line for each thing in which `now` differs from every one of `known`; the line says how it
/// differs from the last. Paths are no difference.
std::vector<std::string> changes(const std::vector<RunIdentity>& known, const RunIdentity& now);

/// What config.resolved.toml holds: every key, with the configuration's hash on top.
std::string resolved_text(const ExperimentConfig& config);

/// "train.schedule.lr is 0.001, was 0.002" for every key that differs.
std::vector<std::string> changed_keys(ExperimentConfig was, ExperimentConfig is);

}  // namespace foxhunt::train
