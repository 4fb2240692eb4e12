#pragma once
// Threads over slices of a batch instead of inside operations: a fixed number of lanes, each with
// its own gradients, each the work of one thread at a time.
//
// What a lane computes depends on its slice alone, and sums run over lanes in a fixed order. So no
// result depends on the number of threads, on which thread took which lane, or on how many
// processes share the lanes.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "foxhunt/base/thread_pool.h"
#include "foxhunt/train/optimizer.h"
#include "foxhunt/train/sequence_model.h"
#include "foxhunt/train/team.h"

namespace foxhunt::train {

class Lanes {
 public:
  /// As many lanes as `wanted` (0: 8, a constant, so that a run means the same on every machine),
  /// at most one a row of the batch; one where the model has no replica(). `threads` 0: all cores.
  /// With more than one lane LibTorch's operations run on one thread until the lanes are gone.
  /// Ranks of a team work a share each; where there is no replica() each works one lane.
  /// Errors  ConfigError: more ranks than lanes.
  Lanes(SequenceModel& model, Optimizer& optimizer, std::int64_t wanted, std::int64_t batch,
        std::int64_t threads, const Team& team = Team());
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(replicas_.size()) + 1; }
  /// Of all ranks together, and those of this one.
  std::int64_t total() const { return total_; }
  ranks::LaneRange own() const { return own_; }
  std::int64_t threads() const { return pool_ ? pool_->size() : 1; }

  /// Lanes that a batch of so many rows fills: [0, used).
  std::int64_t used(std::int64_t rows) const { return std::min(total_, rows); }
  /// Rows of the batch that this rank works.
  ranks::LaneRange own_rows(std::int64_t rows) const;
  /// Cuts [0, rows) into slices that differ by at most one row, one a lane, and returns what
  /// `slice` gives for those of this rank, in order.
  std::vector<at::Tensor> run_slices(
      std::int64_t rows,
      const std::function<at::Tensor(SequenceModel& model, std::int64_t begin, std::int64_t end)>&
          slice);
  /// Calls task(model, i) for every i in [0, count), whichever lane is free; weights are shared, so
  /// the model may be any of them.
  void each(std::int64_t count,
            const std::function<void(SequenceModel& model, std::int64_t index)>& task);

 private:
  SequenceModel& lane(std::int64_t index);

  SequenceModel& model_;
  std::vector<std::unique_ptr<SequenceModel>> replicas_;
  std::unique_ptr<ThreadPool> pool_;  ///< null with one lane
  std::int64_t total_ = 1;
  ranks::LaneRange own_{0, 1};
  int threads_before_ = 0;
};

}  // namespace foxhunt::train
