#include "foxhunt/train/lanes.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "foxhunt/base/machine.h"

namespace foxhunt::train {
namespace {

/// Enough to keep a few cores busy, few enough that a lane's sums stay long.
constexpr std::int64_t kUsualLanes = 8;

}  // namespace

Lanes::Lanes(SequenceModel& model, Optimizer& optimizer, std::int64_t wanted, std::int64_t batch,
             std::int64_t threads, const Team& team)
    : model_(model) {
  const std::int64_t most = std::min(wanted > 0 ? wanted : kUsualLanes, batch);
  std::unique_ptr<SequenceModel> replica = most > 1 ? model.replica() : nullptr;
  const bool has_replicas = replica != nullptr;
  total_ = has_replicas ? most : team.size();
  ranks::require_lane_each(team.size(), total_, batch);
  own_ = ranks::lanes_of(team.rank(), team.size(), total_);
  for (std::int64_t i = 1; i < own_.size(); ++i) {
    optimizer.add_lane(replica->parameters());
    replicas_.push_back(std::move(replica));
    if (i + 1 < own_.size()) replica = model.replica();
  }
  if (has_replicas) {
    threads_before_ = at::get_num_threads();
    at::set_num_threads(1);
  }
  if (replicas_.empty()) return;
  const std::int64_t all = threads > 0 ? threads : this_machine().cores;
  pool_ = std::make_unique<ThreadPool>(static_cast<int>(std::clamp<std::int64_t>(all, 1, size())));
}

Lanes::~Lanes() {
  if (threads_before_ > 0) at::set_num_threads(threads_before_);
}

SequenceModel& Lanes::lane(std::int64_t index) {
  return index == 0 ? model_ : *replicas_[static_cast<std::size_t>(index - 1)];
}

ranks::LaneRange Lanes::own_rows(std::int64_t rows) const {
  const std::int64_t lanes = used(rows);
  return {rows * std::min(own_.begin, lanes) / lanes, rows * std::min(own_.end, lanes) / lanes};
}

std::vector<at::Tensor> Lanes::run_slices(
    std::int64_t rows,
    const std::function<at::Tensor(SequenceModel&, std::int64_t, std::int64_t)>& slice) {
  const std::int64_t lanes = used(rows);
  const std::int64_t count = std::max<std::int64_t>(0, std::min(own_.end, lanes) - own_.begin);
  std::vector<at::Tensor> parts(static_cast<std::size_t>(count));
  const auto run = [&](std::int64_t i, int /*worker*/) {
    const std::int64_t index = own_.begin + i;
    parts[static_cast<std::size_t>(i)] =
        slice(lane(i), rows * index / lanes, rows * (index + 1) / lanes);
  };
  if (pool_) {
    pool_->run(count, run);
  } else if (count > 0) {
    run(0, 0);
  }
  return parts;
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
