#pragma once
// Tells an exchange of gradients, in the middle of the backward pass, which buckets all lanes of
// this rank have finished.

#include <ATen/core/Tensor.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "foxhunt/ranks/gradient_exchange.h"

namespace foxhunt::train {

/// While one lives, backward passes of this thread are the last ones of their lane in the step:
/// gradients are final as they come.
class LastRound {
 public:
  explicit LastRound(bool is_last);
  ~LastRound();
  LastRound(const LastRound&) = delete;
  LastRound& operator=(const LastRound&) = delete;
};

class ReadyHooks {
 public:
  /// `lanes`: the parameters of each lane in the exchange's order. They must not lose their
  /// gradients' hooks to anybody else; the exchange must outlive this.
  ReadyHooks(ranks::GradientExchange& exchange, std::vector<std::vector<at::Tensor>> lanes);
  ~ReadyHooks();
  ReadyHooks(const ReadyHooks&) = delete;
  ReadyHooks& operator=(const ReadyHooks&) = delete;

  /// A step begins in which the first `lanes` of this rank have work.
  void start(std::int64_t lanes);

 private:
  struct Hook;
  ranks::GradientExchange& exchange_;
  std::vector<std::vector<at::Tensor>> lanes_;
  std::vector<std::int64_t> parameters_;            ///< of a bucket
  std::vector<std::atomic<std::int64_t>> missing_;  ///< gradients of a bucket, over all lanes
};

}  // namespace foxhunt::train
