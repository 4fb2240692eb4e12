#pragma once
// Is a run what it was begun with? Its configuration, its data and this program, compared with what
// its folder says. Torch-free.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/run_identity.h"

namespace foxhunt::train {

/// Errors  ConfigError, IoError.
ExperimentConfig load_config(const std::filesystem::path& file);

/// The device that the run was begun on. Errors  IoError, FormatError.
std::string device_of(const RunDir& run);

/// data.lock; empty: the run was cut off before it had read its data. Errors  FormatError.
std::vector<DataFile> locked_data(const RunDir& run);

/// The files of `locked` (those of `named`, where any are) with their hashes of now. Cost  reads
/// them all. Errors  DataError naming one that is gone.
std::vector<DataFile> present_data(const std::vector<DataFile>& locked,
                                   const std::vector<std::string>& named);

/// A line for everything in which `now` differs from what `checkpoint` (without one: the run) was
/// made with and from what the last resume accepted; of the configuration, every key.
/// Errors  IoError, FormatError.
std::vector<std::string> find_changes(const RunDir& run,
                                      const std::optional<std::filesystem::path>& checkpoint,
                                      const ExperimentConfig& config,
                                      const std::vector<DataFile>& locked, const RunIdentity& now);

}  // namespace foxhunt::train
