#include "foxhunt/kernels/scratch_pool.h"

#include <algorithm>
#include <new>
#include <vector>

namespace foxhunt::kernels {
namespace {

constexpr std::align_val_t kAlign{64};
#if defined(__SANITIZE_ADDRESS__)
constexpr std::size_t kKept = ~std::size_t{0};  // none: a block of its own shows every overrun
#else
constexpr std::size_t kKept = 32 << 10;  ///< smaller ones are the C library's
#endif

/// In front of a kept block, as large as its boundary.
struct alignas(64) Header {
  std::size_t bytes;  ///< behind the header
};

/// Blocks that a thread gave and has not taken again.
struct Pool {
  std::vector<Header*> blocks;
  ~Pool() {
    for (Header* block : blocks) ::operator delete(block, kAlign);
  }
};
thread_local Pool pool;

}  // namespace

void* take_scratch(std::size_t bytes) {
  if (bytes < kKept) return ::operator new(std::max<std::size_t>(bytes, 1), kAlign);
  auto& blocks = pool.blocks;
  auto best = blocks.end();
  for (auto it = blocks.begin(); it != blocks.end(); ++it) {
    if ((*it)->bytes >= bytes && (best == blocks.end() || (*it)->bytes < (*best)->bytes)) best = it;
  }
  if (best != blocks.end()) {
    Header* block = *best;
    blocks.erase(best);
    return block + 1;
  }
  if (!blocks.empty()) {  // all are too small: the largest makes place for one that is not
    const auto largest =
        std::max_element(blocks.begin(), blocks.end(),
                         [](const Header* a, const Header* b) { return a->bytes < b->bytes; });
    ::operator delete(*largest, kAlign);
    blocks.erase(largest);
  }
  auto* block = static_cast<Header*>(::operator new(sizeof(Header) + bytes, kAlign));
  block->bytes = bytes;
  return block + 1;
}

void give_scratch(void* block, std::size_t bytes) noexcept {
  if (bytes < kKept) {
    ::operator delete(block, kAlign);
    return;
  }
  auto* header = static_cast<Header*>(block) - 1;
  try {
    pool.blocks.push_back(header);
  } catch (...) {  // no memory to remember it by
    ::operator delete(header, kAlign);
  }
}

}  // namespace foxhunt::kernels
