#include "foxhunt/train/team.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "foxhunt/base/interrupt.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {

at::Tensor Team::sum_of_lanes(const std::vector<at::Tensor>& own, std::int64_t lanes,
                              std::int64_t used) {
  if (ranks_ == nullptr) {
    at::Tensor sum = own.at(0);
    for (std::size_t i = 1; i < own.size(); ++i) sum = sum + own[i];
    return sum;
  }
  const auto most = static_cast<std::size_t>((lanes + size() - 1) / size());
  std::vector<float> mine(1 + most, 0.0F);
  mine[0] = interrupted() ? 1.0F : 0.0F;
  if (!own.empty())
    std::ranges::transform(read_scalars(at::stack(own)), mine.begin() + 1,
                           [](double loss) { return static_cast<float>(loss); });
  std::vector<float> all(mine.size() * static_cast<std::size_t>(size()));
  ranks_->all_gather(mine, all);
  float sum = 0;
  stop_ = false;
  for (int r = 0; r < size(); ++r) {
    const float* of_rank = all.data() + static_cast<std::size_t>(r) * mine.size();
    stop_ = stop_ || of_rank[0] != 0.0F;
    const ranks::LaneRange range = ranks::lanes_of(r, size(), lanes);
    for (std::int64_t lane = range.begin; lane < std::min(range.end, used); ++lane) {
      const float loss = of_rank[1 + lane - range.begin];
      sum = lane == 0 ? loss : sum + loss;
    }
  }
  return at::scalar_tensor(sum, at::TensorOptions(at::kFloat));
}

void Team::complete(std::vector<double>& items) const {
  if (ranks_ == nullptr) return;
  std::string mine(items.size() * sizeof(double), '\0');
  std::memcpy(mine.data(), items.data(), mine.size());
  const std::vector<std::string> all = ranks_->gather(mine);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto owner = static_cast<std::size_t>(owner_of(static_cast<std::int64_t>(i)));
    std::memcpy(&items[i], all[owner].data() + i * sizeof(double), sizeof(double));
  }
}

bool Team::stopping() const { return ranks_ == nullptr ? interrupted() : stop_; }

bool Team::agree_to_stop() {
  if (ranks_ == nullptr) return interrupted();
  stop_ = false;
  for (const std::string& answer : ranks_->gather(interrupted() ? "stop" : ""))
    stop_ = stop_ || !answer.empty();
  return stop_;
}

void Team::require_same_weights(const std::string& hash) const {
  if (ranks_ == nullptr) return;
  const std::vector<std::string> all = ranks_->gather(hash);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw Error(ExitCode::kFailure,
                fmt::format("[ranks] the weights of rank {} are no longer those of rank 0 ({} and "
                            "{}): hosts that compute differently, or a broken one",
                            r, all[r].substr(0, 16), all[0].substr(0, 16)));
  }
}

}  // namespace foxhunt::train
