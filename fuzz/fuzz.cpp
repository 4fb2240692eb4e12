// Replaces operator new and delete of the whole program by ones that count.
#include "fuzz/fuzz.h"

#include <malloc.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <new>

namespace {

constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
// Atomic, since libFuzzer watches memory from a thread of its own.
std::atomic<std::int64_t> live{0};
std::atomic<std::int64_t> most{kNone};

void* take(std::size_t size) {
  const auto wanted = static_cast<std::int64_t>(size);
  if (wanted < 0 || live.load() > most.load() - wanted) {
    // No printf of ours may allocate here; stderr is not buffered.
    most = kNone;
    std::fprintf(stderr, "fuzz: an allocation of %zu bytes passes the target's limit\n", size);
    std::abort();
  }
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory != nullptr) live += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void give(void* memory) {
  if (memory == nullptr) return;
  live -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

// Not inlined: where GCC sees both bodies it takes malloc and free for a mismatch of new and
// delete.
[[gnu::noinline]] void* operator new(std::size_t size) {
  if (void* memory = take(size)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return take(size);
}
[[gnu::noinline]] void* operator new[](std::size_t size) { return operator new(size); }
[[gnu::noinline]] void* operator new[](std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  return take(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { give(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t /*size*/) noexcept {
  give(memory);
}
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t& /*tag*/) noexcept {
  give(memory);
}
[[gnu::noinline]] void operator delete[](void* memory) noexcept { give(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t /*size*/) noexcept {
  give(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t& /*tag*/) noexcept {
  give(memory);
}

namespace foxhunt::fuzz {

void require(bool holds, const char* property) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: does not hold: %s\n", property);
  std::abort();
}

AllocationLimit::AllocationLimit(std::size_t bytes) {
  most = live.load() + static_cast<std::int64_t>(bytes);
}
AllocationLimit::~AllocationLimit() { most = kNone; }

}  // namespace foxhunt::fuzz
