#pragma once
// The ranks that share one training, as the trainer asks for them; or a trainer alone.
//
// Every number that ranks share is put together in an order that does not depend on their number,
// so a trainer alone computes the same bits.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "foxhunt/ranks/lane_tree.h"
#include "foxhunt/ranks/ranks.h"

namespace foxhunt::train {

class Team {
 public:
  /// `ranks` must outlive it; null: alone.
  explicit Team(ranks::Ranks* ranks = nullptr) : ranks_(ranks) {}

  ranks::Ranks* ranks() const { return ranks_; }
  int rank() const { return ranks_ != nullptr ? ranks_->rank() : 0; }
  int size() const { return ranks_ != nullptr ? ranks_->size() : 1; }
  /// Rank 0, which alone writes files.
  bool leads() const { return rank() == 0; }

  /// Whoever works the lanes [0, used) of `lanes` has a loss for each: the sum over all lanes in
  /// order, in float32. `own`: those of this rank's lanes. Alone, nothing leaves the device.
  /// Ranks also agree here whether to stop.
  at::Tensor sum_of_lanes(const std::vector<at::Tensor>& own, std::int64_t lanes,
                          std::int64_t used);

  /// Which rank works item `index` where items are dealt out one by one.
  int owner_of(std::int64_t index) const { return static_cast<int>(index % size()); }
  /// Item i of `items` is right on its owner, and afterwards on all.
  void complete(std::vector<double>& items) const;

  /// Whether any rank was asked to end (Ctrl-C): the same answer on all. Alone: interrupted().
  bool stopping() const;
  /// Asks all again, outside of a step.
  bool agree_to_stop();

  /// Errors  Error naming the first rank whose text is not rank 0's: weights that drifted apart.
  void require_same_weights(const std::string& hash) const;

 private:
  ranks::Ranks* ranks_;
  bool stop_ = false;
};

}  // namespace foxhunt::train
