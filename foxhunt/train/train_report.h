#pragma once
// The outcome of a training as JSON: what `foxhunt train --json` prints and result.json of a run
// folder keeps. Torch-free.

#include <filesystem>
#include <optional>
#include <string>

#include "foxhunt/train/train.h"

namespace foxhunt::train {

/// Without a newline at the end.
std::string to_json(const TrainReport& report);

/// result.json of a run that ended; nullopt: it has not. Errors  FormatError, IoError.
std::optional<TrainReport> read_result(const std::filesystem::path& run);

}  // namespace foxhunt::train
