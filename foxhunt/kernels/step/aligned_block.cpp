#include "foxhunt/kernels/step/aligned_block.h"

#include <sys/mman.h>

#include <cstdlib>
#include <cstring>
#include <new>

namespace foxhunt::kernels {
namespace {
constexpr std::size_t kHugePage = 2U << 20U;
}

AlignedBlock::AlignedBlock(std::size_t bytes, bool huge) : size_(bytes) {
  if (bytes == 0) return;
  // A model below half a huge page would waste more of it than the fewer page walks save.
  const bool wants_huge = huge && bytes > kHugePage / 8;
  const std::size_t align = wants_huge ? kHugePage : 64;
  const std::size_t whole = (bytes + align - 1) / align * align;
  void* const p = std::aligned_alloc(align, whole);
  if (p == nullptr) throw std::bad_alloc();
  bytes_.reset(static_cast<std::byte*>(p));
  // Only a wish: without huge pages everything works as before.
  if (wants_huge) madvise(p, whole, MADV_HUGEPAGE);
  std::memset(p, 0, whole);  // also touches every page, so that no event meets a page fault
}

void AlignedBlock::Free::operator()(std::byte* p) const noexcept { std::free(p); }

}  // namespace foxhunt::kernels
