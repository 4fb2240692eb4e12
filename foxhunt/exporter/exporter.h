#pragma once
// The door of this room: a trained run becomes a bundle, after both halves answered the same
// records. Torch-free.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "foxhunt/bundle/certificate.h"
#include "foxhunt/bundle/weight_form.h"

namespace foxhunt::exporter {

struct ExportOptions {
  std::filesystem::path out{};
  std::string weights = "auto";       ///< a form, or "auto": the fastest here within its bound
  std::int64_t parity_bars = 20'000;  ///< the last bars of the run's data that are compared
  std::int64_t golden_bars = 2'000;   ///< the last of them that travel in the bundle
  /// A book begins with its snapshot: of order events the first of the last file are taken, so many
  /// answered rows to compare, and so many that travel.
  std::int64_t parity_samples = 10'000;
  std::int64_t golden_samples = 500;
  std::vector<std::string> data{};  ///< instead of the files of the run
  bool require_proof = false;       ///< refuses a run without a leak proof that speaks of it
};

/// One form of the weights as it was tried.
struct Candidate {
  bundle::WeightForm form{};
  bundle::Parity parity{};
  bundle::ParityBound bound{};
  double step_us = 0;  ///< median step on this machine, the forms interleaved
  std::string kernels;
  std::string refused;  ///< why it cannot serve; "" when it can
};

struct ExportReport {
  std::filesystem::path path;
  std::string id;
  bundle::WeightForm form{};
  std::vector<Candidate> candidates;
  std::int64_t records = 0;  ///< bars or order events that were compared
  std::int64_t golden_rows = 0;
  std::int64_t file_bytes = 0;
  std::string leak_proof{};  ///< seal of the one that travels; "" : the model is unproven
};

/// Answers the run's data with the best model in LibTorch (the whole sequences at once, LibTorch's
/// own operations) and with the engine (record by record), and writes the bundle only where the
/// chosen form meets its bound. The leak proof of the run travels where it (still) speaks of it.
/// Errors  DataError: no run, data gone or changed, too few rows; ConfigError: a form whose bound
///         is passed (it says by how much), or a model that cannot be served; IoError.
ExportReport export_run(const std::filesystem::path& run, const ExportOptions& options);

}  // namespace foxhunt::exporter
