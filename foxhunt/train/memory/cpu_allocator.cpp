#include "foxhunt/train/memory/cpu_allocator.h"

#include <c10/core/CPUAllocator.h>
#include <malloc.h>

#include <atomic>

namespace foxhunt::train {
namespace {

std::atomic<BlockCache*> cache{nullptr};

void give_back(void* memory) { cache.load(std::memory_order_acquire)->give(memory); }

class CountedAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* memory = bytes == 0 ? nullptr : cache.load(std::memory_order_acquire)->take(bytes);
    return {memory, memory, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

}  // namespace

BlockCache& use_counted_memory() {
  // Never destroyed: tensors may outlive every static of this file.
  static BlockCache* const made = [] {
    auto* blocks = new BlockCache;
    cache.store(blocks, std::memory_order_release);
    c10::SetCPUAllocator(new CountedAllocator, /*priority=*/100);
    return blocks;
  }();
  return *made;
}

BlockCache* counted_memory() { return cache.load(std::memory_order_acquire); }

void release_freed_memory() {
  if (BlockCache* blocks = counted_memory()) blocks->release();
  ::malloc_trim(0);
}

}  // namespace foxhunt::train
