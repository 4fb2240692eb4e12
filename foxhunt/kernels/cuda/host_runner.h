#pragma once
// Runs an algorithm of this folder on the host, block by block: the oracle's counterpart in tests
// that need no GPU. Slow on purpose: it is the kernel's own code, thread by thread.

#include <cstring>
#include <type_traits>

#include "foxhunt/kernels/cuda/block_host.h"
#include "foxhunt/kernels/cuda/plan.h"

namespace foxhunt::kernels::cuda {

class HostRunner {
 public:
  /// `max_blocks` stands for the limit of a grid: fewer blocks than items go on in rounds.
  explicit HostRunner(ThreadOrder order = ThreadOrder::kForward, std::int64_t max_blocks = kMaxGrid)
      : order_(order), max_blocks_(max_blocks) {}

  template <class Algorithm>
  void run(const typename Algorithm::Args& args) const {
    const std::int64_t items = Algorithm::items(args);
    const std::int64_t blocks = grid_size(items, max_blocks_);
    for (std::int64_t first = 0; first < blocks; ++first)
      run_items<Algorithm>(args, first, items, blocks);
  }

  /// What one block does: items first, first + stride, .. below `end`. Shared memory starts as NaN,
  /// as nobody has cleared it.
  template <class Algorithm>
  void run_items(const typename Algorithm::Args& args, std::int64_t first, std::int64_t end,
                 std::int64_t stride) const {
    static_assert(std::is_trivially_copyable_v<typename Algorithm::Shared>);
    typename Algorithm::Shared shared;
    std::memset(static_cast<void*>(&shared), 0xff, sizeof shared);
    HostBlock<Algorithm::kThreads> block(order_);
    for (std::int64_t item = first; item < end; item += stride)
      Algorithm::run(block, shared, args, item);
  }

 private:
  ThreadOrder order_;
  std::int64_t max_blocks_;
};

}  // namespace foxhunt::kernels::cuda
