#include "foxhunt/train/lanes.h"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>

#include <algorithm>

#include "foxhunt/base/machine.h"

namespace foxhunt::train {
namespace {

/// Enough to keep a few cores busy, few enough that a lane's sums stay long.
constexpr std::int64_t kUsualLanes = 8;

}  // namespace

Lanes::Lanes(SequenceModel& model, Optimizer& optimizer, std::int64_t wanted, std::int64_t batch,
             std::int64_t threads)
    : model_(model) {
  const std::int64_t most = std::min(wanted > 0 ? wanted : kUsualLanes, batch);
  for (std::int64_t i = 1; i < most; ++i) {
    std::unique_ptr<SequenceModel> replica = model.replica();
    if (!replica) return;
    optimizer.add_lane(replica->parameters());
    replicas_.push_back(std::move(replica));
  }
  if (replicas_.empty()) return;
  const std::int64_t all = threads > 0 ? threads : this_machine().cores;
  pool_ = std::make_unique<ThreadPool>(static_cast<int>(std::clamp<std::int64_t>(all, 1, size())));
  threads_before_ = at::get_num_threads();
  at::set_num_threads(1);
}

Lanes::~Lanes() {
  if (pool_) at::set_num_threads(threads_before_);
}

SequenceModel& Lanes::lane(std::int64_t index) {
  return index == 0 ? model_ : *replicas_[static_cast<std::size_t>(index - 1)];
}

at::Tensor Lanes::sum_slices(
    std::int64_t rows,
    const std::function<at::Tensor(SequenceModel&, std::int64_t, std::int64_t)>& slice) {
  const std::int64_t used = std::min(size(), rows);
  std::vector<at::Tensor> parts(static_cast<std::size_t>(used));
  const auto run = [&](std::int64_t i, int /*worker*/) {
    parts[static_cast<std::size_t>(i)] = slice(lane(i), rows * i / used, rows * (i + 1) / used);
  };
  if (pool_) {
    pool_->run(used, run);
  } else {
    run(0, 0);
  }
  at::Tensor sum = parts[0];
  for (std::size_t i = 1; i < parts.size(); ++i) sum = sum + parts[i];
  return sum;
}

void Lanes::each(std::int64_t count,
                 const std::function<void(SequenceModel&, std::int64_t)>& task) {
  if (pool_) {
    pool_->run(count, [&](std::int64_t i, int worker) { task(lane(worker), i); });
  } else {
    for (std::int64_t i = 0; i < count; ++i) task(model_, i);
  }
}

}  // namespace foxhunt::train
