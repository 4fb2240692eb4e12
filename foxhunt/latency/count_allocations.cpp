#include "foxhunt/latency/count_allocations.h"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

constinit thread_local std::int64_t allocations = 0;
constinit thread_local std::int64_t frees = 0;

// Not inlined: where GCC sees both bodies it takes malloc and free for a mismatch of new and
// delete.
[[gnu::noinline]] void* take(std::size_t size, std::size_t alignment) noexcept {
  ++allocations;
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  // aligned_alloc wants whole alignments.
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

/// As the standard asks: the new handler is called until it gives up or there is memory.
[[gnu::noinline]] void* take_or_throw(std::size_t size, std::size_t alignment) {
  for (;;) {
    if (void* memory = take(size, alignment)) return memory;
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}

[[gnu::noinline]] void give_back(void* memory) noexcept {
  if (memory != nullptr) ++frees;
  std::free(memory);
}

constexpr std::size_t kPlain = alignof(std::max_align_t);
std::size_t of(std::align_val_t alignment) { return static_cast<std::size_t>(alignment); }

}  // namespace

namespace foxhunt::latency {
std::int64_t thread_allocations() noexcept { return allocations; }
std::int64_t thread_frees() noexcept { return frees; }
}  // namespace foxhunt::latency

void* operator new(std::size_t size) { return take_or_throw(size, kPlain); }
void* operator new[](std::size_t size) { return take_or_throw(size, kPlain); }
void* operator new(std::size_t size, std::align_val_t a) { return take_or_throw(size, of(a)); }
void* operator new[](std::size_t size, std::align_val_t a) { return take_or_throw(size, of(a)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return take(size, kPlain); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return take(size, kPlain);
}
void* operator new(std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(size, of(a));
}
void* operator new[](std::size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return take(size, of(a));
}

void operator delete(void* p) noexcept { give_back(p); }
void operator delete[](void* p) noexcept { give_back(p); }
void operator delete(void* p, std::size_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { give_back(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete(void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
void operator delete[](void* p, std::align_val_t, const std::nothrow_t&) noexcept { give_back(p); }
