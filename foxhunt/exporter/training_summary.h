#pragma once
// What a bundle says of its training: "foxhunt.training" of its metadata. Torch-free.

#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/run_dir.h"

namespace foxhunt::exporter {

/// JSON: where training stood at its best, the data files by name, hash, bars and range, and what
/// the last evaluation of the test part said, where there was one.
/// `checkpoint`: the folder that the weights came from.
std::string training_summary(const train::RunDir& run, const std::filesystem::path& checkpoint,
                             const std::string& weights_sha256,
                             const std::vector<train::DataFile>& files);

}  // namespace foxhunt::exporter
