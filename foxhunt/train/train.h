#pragma once
// The door of this room: what the command line and other programs call. Torch-free.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/report.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct TrainOptions {
  std::filesystem::path out{};  ///< the run folder; empty: a new one below runs/
  bool overwrite = false;       ///< an earlier run there may go
  std::string device = "cpu";   ///< "cpu", "cuda", "cuda:1"
  bool test = false;            ///< two small epochs, everything exercised
  ProgressMode progress = ProgressMode::kAuto;
  std::string config_text{};  ///< the file as given, kept beside the resolved one
  std::vector<std::string> command_line{};
  std::int64_t pause_after_epoch = 0;  ///< ends there with a saved checkpoint; 0: never
  std::filesystem::path proof{};       ///< leakproof.json of this experiment; empty: unproven
  bool require_proof = false;          ///< refuses to train without one
};

struct TrainReport {
  std::filesystem::path run{};
  std::int64_t parameters = 0;
  std::int64_t epochs = 0;         ///< begun
  std::int64_t steps = 0;          ///< optimiser steps taken
  std::int64_t skipped_steps = 0;  ///< steps with a non-finite gradient
  std::int64_t best_epoch = 0;     ///< counts from 1
  double best_valid_loss = 0;
  double seconds = 0;
  std::string weights_sha256;  ///< of the best weights, which the model now has
  std::string stopped;         ///< "epochs done", "early stopping", "paused"
  int rank = 0;                ///< of this process among those that trained together
};

/// Trains a model and leaves a run folder behind (run_dir.h). Ctrl-C finishes the step and saves.
/// Where the environment names other ranks (ranks/place.h) all train one model together, and rank 0
/// alone writes; then also errors  ranks::LostRankError.
/// Errors  ConfigError with every setting that is wrong; DataError; DeviceError; NotConvergedError;
/// IoError;
///         InterruptedError after everything was saved.
TrainReport train(ExperimentConfig config, const TrainOptions& options);

struct ResumeOptions {
  std::string device{};         ///< empty: the one the run was begun on
  bool accept_changes = false;  ///< of data, configuration, program; recorded in resumes.jsonl
  ProgressMode progress = ProgressMode::kAuto;
  std::int64_t pause_after_epoch = 0;
  std::vector<std::string> command_line{};
  std::vector<std::string> data{};  ///< where the files of the run are now; empty: where they were
  std::int64_t threads = 0;         ///< instead of train.threads; 0: those
  std::string memory_budget{};      ///< instead of train.memory_budget; empty: that
};

/// Goes on with a run that was cut off, from its newest complete checkpoint, to the same bits as
/// if it had not been (docs/decisions/0016-resume.md), with any number of ranks, all of which see
/// the folder. Of a run that has ended: its result. Errors  DataError: no run, one that was cut off
/// before it began, or something has changed (each is named); ConfigError: another process trains
/// into the folder; what train() throws.
TrainReport resume(const std::filesystem::path& run, const ResumeOptions& options);

struct EvaluateOptions {
  std::string split = "test";  ///< "train", "valid" or "test"
  bool baselines = false;      ///< also those that have to be trained (GRU)
  std::string device = "cpu";
  std::vector<std::string> data{};      ///< instead of the files of the run
  std::filesystem::path predictions{};  ///< where to write one JSON line a row; empty: nowhere
  std::filesystem::path scored{};       ///< where to write what was judged; empty: nowhere
  std::filesystem::path ledger{};       ///< where the look is counted; empty: nowhere
  std::string uncounted = "no ledger was named";  ///< what the report says then
  ProgressMode progress = ProgressMode::kAuto;
};

/// Scores the run's best model on the rows of one part, beside baselines on the same rows. Writes
/// the report and its charts into the run folder (evaluation-SPLIT.json, loss.svg,
/// calibration-SPLIT.svg, hours-SPLIT.svg). Errors  DataError: no run, data changed, no row in the
/// part.
evaluation::EvaluationReport evaluate(const std::filesystem::path& run,
                                      const EvaluateOptions& options);

struct PredictOptions {
  std::vector<std::string> data{};
  std::string device = "cpu";
  std::string
      symbol{};  ///< one contract of the files; empty: every one of the product, in file order
  market::ReadOptions read{};
};

struct PredictReport {
  std::int64_t bars = 0;
  std::int64_t predictions = 0;
  std::string dropped;  ///< a line about bars without prediction; empty when there are none
  double p50_us = 0;    ///< latency of one prediction, features not included
  double p99_us = 0;
};

/// Streams the files through the run's best model, one bar at a time; `line` gets one JSON text a
/// prediction. Errors  DataError, FormatError, DeviceError.
PredictReport predict(const std::filesystem::path& run, const PredictOptions& options,
                      const std::function<void(const std::string&)>& line);

}  // namespace foxhunt::train
