#include "foxhunt/train/memory/memory_watch.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/progress.h"
#include "foxhunt/train/memory/cpu_allocator.h"
#include "foxhunt/train/memory/device_memory.h"
#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {

std::string MemoryUse::text() const {
  std::string text = format_bytes(resident);
  if (device) text += ", GPU " + format_bytes(*device);
  return text;
}

MemoryWatch::MemoryWatch(int gpu, std::int64_t budget, std::int64_t outside)
    : gpu_(gpu), budget_(budget) {
  look();
  BlockCache* cache = counted_memory();
  if (budget_ == 0 || gpu_ >= 0 || cache == nullptr) return;
  outside_ = use_.resident - cache->use().held + outside;
  cache->set_limit(std::max<std::int64_t>(1, budget_ - outside_));
}

MemoryWatch::~MemoryWatch() {
  if (BlockCache* cache = counted_memory(); cache != nullptr && budget_ > 0) cache->set_limit(0);
}

const MemoryUse& MemoryWatch::look() {
  const ResidentSet set = resident_set();
  use_.resident = set.now;
  use_.resident_peak = std::max(use_.resident_peak, set.peak);
  if (const BlockCache* cache = counted_memory()) use_.allocator_peak = cache->use().in_use_peak;
  if (gpu_ < 0) return use_;
  const DeviceMemory device = device_memory(gpu_);
  use_.device = device.process ? device.process : device.reserved;
  use_.device_allocator_peak = device.allocated_peak;
  if (use_.device) use_.device_peak = std::max(use_.device_peak.value_or(0), *use_.device);
  return use_;
}

void MemoryWatch::keep_budget() {
  look();
  if (budget_ == 0) return;
  const std::int64_t used = gpu_ >= 0 ? use_.device.value_or(0) : use_.resident;
  if (used > budget_) {
    throw MemoryError(fmt::format("[memory] {} {} pass the budget of {}", format_bytes(used),
                                  gpu_ >= 0 ? "on the GPU" : "resident", format_bytes(budget_)));
  }
  BlockCache* cache = counted_memory();
  if (gpu_ >= 0 || cache == nullptr) return;
  // What is held and was never written is not resident yet: the largest difference is the truth.
  outside_ = std::max(outside_, use_.resident - cache->use().held);
  cache->set_limit(std::max<std::int64_t>(1, budget_ - outside_));
}

void MemoryWatch::make_room() {
  if (gpu_ < 0) release_freed_memory();
}

}  // namespace foxhunt::train
