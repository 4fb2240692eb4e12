#pragma once
// How the processes of one training begin and end together. Torch-free.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/features/schema.h"
#include "foxhunt/ranks/place.h"
#include "foxhunt/ranks/ranks.h"
#include "foxhunt/train/data_lock.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/train.h"

namespace foxhunt::train {

/// One process of several, or one alone.
class Together {
 public:
  /// Reads from the environment who this process is (ranks/place.h). Errors  ConfigError.
  Together();
  /// Meets the other ranks, where there are any; those but rank 0 log warnings and errors only from
  /// now on. `silence`: seconds after which one counts as lost. Errors  ConfigError.
  void meet(std::int64_t silence);

  /// Null: alone, or not met yet.
  ranks::Ranks* ranks() const { return ranks_.get(); }
  bool alone() const { return !place_; }
  int rank() const { return place_ ? place_->rank : 0; }
  bool leads() const { return rank() == 0; }

  /// Errors  ConfigError naming a rank whose configuration, program, LibTorch or instruction set is
  /// not rank 0's: it would not compute the same.
  void require_alike(const std::string& config_sha256) const;
  /// Errors  ConfigError: more ranks than lanes that can be shared out; before anything is written.
  void require_lanes(std::int64_t lanes, std::int64_t batch) const;
  /// Errors  ConfigError naming a rank that read other data, or made rows with another library.
  void require_same_data(const std::vector<DataFile>& files, const features::Schema& schema) const;
  /// Opens the run folder on rank 0; the others only learn where it is.
  RunDir open(const std::function<RunDir()>& how) const;
  /// Rank 0's text, on all.
  std::string from_first(const std::string& text) const;
  /// The device of this process: "cuda" is the GPU of its local rank.
  std::string device(const std::string& wanted) const;
  /// CPU threads for this process: the configuration's, or its share of the host's cores.
  std::int64_t threads(std::int64_t wanted) const;

  /// Does the work of this rank: what it throws is told to the others before it goes on; behind it
  /// all ranks wait for each other.
  TrainReport all(const std::function<TrainReport()>& work) const;

 private:
  std::optional<ranks::Place> place_;
  std::unique_ptr<ranks::Ranks> ranks_;
};

}  // namespace foxhunt::train
