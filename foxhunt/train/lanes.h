#pragma once
// Threads over slices of a batch instead of inside operations: a fixed number of lanes, each with
// its own gradients, each the work of one thread at a time.
//
// What a lane computes depends on its slice alone, and sums run over lanes in order. So no result
// depends on the number of threads or on which thread took which lane.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "foxhunt/base/thread_pool.h"
#include "foxhunt/train/optimizer.h"
#include "foxhunt/train/sequence_model.h"

namespace foxhunt::train {

class Lanes {
 public:
  /// As many lanes as `wanted` (0: 8, a constant, so that a run means the same on every machine),
  /// at most one a row of the batch; one where the model has no replica(). `threads` 0: all cores.
  /// With more than one lane LibTorch's operations run on one thread until the lanes are gone.
  Lanes(SequenceModel& model, Optimizer& optimizer, std::int64_t wanted, std::int64_t batch,
        std::int64_t threads);
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  std::int64_t size() const { return static_cast<std::int64_t>(replicas_.size()) + 1; }
  std::int64_t threads() const { return pool_ ? pool_->size() : 1; }

  /// Cuts [0, rows) into slices that differ by at most one row, one a lane, and returns the sum of
  /// what `slice` gives for them, in order.
  at::Tensor sum_slices(std::int64_t rows,
                        const std::function<at::Tensor(SequenceModel& model, std::int64_t begin,
                                                       std::int64_t end)>& slice);
  /// Calls task(model, i) for every i in [0, count), whichever lane is free; weights are shared, so
  /// the model may be any of them.
  void each(std::int64_t count,
            const std::function<void(SequenceModel& model, std::int64_t index)>& task);

 private:
  SequenceModel& lane(std::int64_t index);

  SequenceModel& model_;
  std::vector<std::unique_ptr<SequenceModel>> replicas_;
  std::unique_ptr<ThreadPool> pool_;  ///< null with one lane
  int threads_before_ = 0;
};

}  // namespace foxhunt::train
