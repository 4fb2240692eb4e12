#pragma once
// What a leak proof has to speak of to count for an experiment: its data, features, labels, split.
// Torch-free.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/bundle/leak_proof.h"
#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

/// `data`: SHA-256 of each data file, in order. Errors  ConfigError: unknown product, bad features.
bundle::ProofSubject proof_subject(const ExperimentConfig& config, std::vector<std::string> data);

/// SHA-256 of the files of config.data. Errors  IoError.
std::vector<std::string> data_hashes(const ExperimentConfig& config);
/// The same of files that were hashed before.
std::vector<std::string> data_hashes(const std::vector<DataFile>& files);

/// The proof at `path`, found to speak of this experiment and to hold; nullopt for an empty path.
/// Errors  ConfigError: `required`, but no path; what bundle::require_leak_proof throws.
std::optional<bundle::LeakProof> checked_proof(const std::filesystem::path& path, bool required,
                                               const ExperimentConfig& config);

}  // namespace foxhunt::train
