#pragma once
// The order in which windows are visited: a shuffle a epoch that depends on the seed and the epoch
// alone.
//
// So a run that was cut off goes on where it stopped, at once, from two numbers: no draws to
// repeat, no batches to skip.

#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/base/rng.h"

namespace foxhunt::train {

/// Where a sampler stands; goes into checkpoints.
struct SamplerState {
  std::int64_t epoch = 0;
  std::int64_t position = 0;  ///< windows of this epoch that were handed out
  friend bool operator==(const SamplerState&, const SamplerState&) = default;
};

class WindowSampler {
 public:
  /// Of `windows` windows. `rng` gives the seed; it is not drawn from.
  WindowSampler(std::int64_t windows, const Rng& rng);

  /// Indices of the next up to `batch` windows of the epoch. The last batch may be smaller and is
  /// not dropped; empty at the end of the epoch. `batch` > 0. Lifetime  valid until the next call
  /// of anything but a const function.
  std::span<const std::int64_t> next(std::int64_t batch);

  bool epoch_done() const { return state_.position >= size(); }
  void start_epoch(std::int64_t epoch) { restore({.epoch = epoch, .position = 0}); }
  std::int64_t size() const { return static_cast<std::int64_t>(order_.size()); }

  SamplerState state() const { return state_; }
  /// Errors  FormatError when the position is not one of this number of windows, or the epoch is
  /// negative.
  void restore(const SamplerState& state);

 private:
  void shuffle();

  Rng rng_;
  SamplerState state_;
  std::vector<std::int64_t> order_;
};

}  // namespace foxhunt::train
