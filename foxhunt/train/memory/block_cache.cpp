#include "foxhunt/train/memory/block_cache.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>

#include "foxhunt/base/progress.h"
#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {
namespace {

/// In front of every block; as large as the boundary that blocks lie on.
struct alignas(64) Header {
  void* base;          ///< of the mapping; null: from the C library
  std::size_t mapped;  ///< bytes of the mapping, or of the C library's block
  std::size_t bytes;   ///< asked for
};
static_assert(sizeof(Header) == 64);

constexpr std::size_t kPage = 4096;

std::int64_t as_signed(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

void raise(std::atomic<std::int64_t>& peak, std::int64_t value) noexcept {
  std::int64_t old = peak.load(std::memory_order_relaxed);
  while (old < value && !peak.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
}

void* begin(void* block, void* base, std::size_t mapped, std::size_t bytes) {
  auto* header = static_cast<Header*>(block);
  *header = {base, mapped, bytes};
  return header + 1;
}

}  // namespace

BlockCache::~BlockCache() { release(); }

void BlockCache::count(std::int64_t bytes) noexcept {
  raise(in_use_peak_, in_use_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void BlockCache::hold(std::int64_t bytes) noexcept {
  raise(held_peak_, held_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void BlockCache::refuse(std::size_t bytes, const char* why) const {
  throw MemoryError(fmt::format("[memory] {} more for a tensor: {} ({} in use, {} held)",
                                format_bytes(as_signed(bytes)), why,
                                format_bytes(in_use_.load(std::memory_order_relaxed)),
                                format_bytes(held_.load(std::memory_order_relaxed))));
}

void* BlockCache::take(std::size_t bytes) {
  if (bytes >= kLarge) {
    return take_large(bytes, (bytes + sizeof(Header) + kPage - 1) / kPage * kPage);
  }
  const std::size_t size = (bytes + 2 * sizeof(Header) - 1) / sizeof(Header) * sizeof(Header);
  const std::int64_t most = limit();
  if (most > 0 && held_.load(std::memory_order_relaxed) + as_signed(size) > most) {
    release();
    if (held_.load(std::memory_order_relaxed) + as_signed(size) > most)
      refuse(bytes, "the budget does not suffice");
  }
  void* block = std::aligned_alloc(sizeof(Header), size);
  if (block == nullptr) refuse(bytes, "the system has no more");
  hold(as_signed(size));
  count(as_signed(bytes));
  return begin(block, nullptr, size, bytes);
}

void* BlockCache::take_large(std::size_t bytes, std::size_t mapped) {
  const std::lock_guard lock(mutex_);
  const auto found = free_.lower_bound(mapped);
  if (found != free_.end() && found->first <= mapped + mapped / 8) {
    void* base = found->second.base;
    const std::size_t size = found->first;
    free_.erase(found);
    count(as_signed(bytes));
    return begin(base, base, size, bytes);
  }
  const std::int64_t peak = std::max(in_use_peak_.load(std::memory_order_relaxed),
                                     in_use_.load(std::memory_order_relaxed) + as_signed(mapped));
  std::int64_t most = peak + std::max(peak / kSlackShare, kSlack);
  if (limit() > 0) most = std::min(most, limit());
  while (!free_.empty() && held_.load(std::memory_order_relaxed) + as_signed(mapped) > most)
    release_oldest();
  if (limit() > 0 && held_.load(std::memory_order_relaxed) + as_signed(mapped) > limit())
    refuse(bytes, "the budget does not suffice");
  void* base = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) refuse(bytes, "the system has no more");
  hold(as_signed(mapped));
  count(as_signed(bytes));
  return begin(base, base, mapped, bytes);
}

void BlockCache::give(void* memory) noexcept {
  if (memory == nullptr) return;
  auto* header = static_cast<Header*>(memory) - 1;
  in_use_.fetch_sub(as_signed(header->bytes), std::memory_order_relaxed);
  if (header->base == nullptr) {
    held_.fetch_sub(as_signed(header->mapped), std::memory_order_relaxed);
    std::free(header);
    return;
  }
  const std::size_t mapped = header->mapped;
  const std::lock_guard lock(mutex_);
  try {
    free_.insert({mapped, {header->base, ++stamp_}});
  } catch (...) {  // no memory to remember it by
    held_.fetch_sub(as_signed(mapped), std::memory_order_relaxed);
    ::munmap(header->base, mapped);
  }
}

void BlockCache::release_oldest() noexcept {
  const auto oldest = std::min_element(
      free_.begin(), free_.end(),
      [](const auto& a, const auto& b) { return a.second.stamp < b.second.stamp; });
  ::munmap(oldest->second.base, oldest->first);
  held_.fetch_sub(as_signed(oldest->first), std::memory_order_relaxed);
  free_.erase(oldest);
}

void BlockCache::release() {
  const std::lock_guard lock(mutex_);
  while (!free_.empty()) release_oldest();
}

BlockCache::Use BlockCache::use() const {
  return {.in_use = in_use_.load(std::memory_order_relaxed),
          .in_use_peak = in_use_peak_.load(std::memory_order_relaxed),
          .held = held_.load(std::memory_order_relaxed),
          .held_peak = held_peak_.load(std::memory_order_relaxed)};
}

void BlockCache::reset_peaks() {
  in_use_peak_.store(in_use_.load(std::memory_order_relaxed), std::memory_order_relaxed);
  held_peak_.store(held_.load(std::memory_order_relaxed), std::memory_order_relaxed);
}

}  // namespace foxhunt::train
