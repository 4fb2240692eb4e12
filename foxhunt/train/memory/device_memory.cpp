#include "foxhunt/train/memory/device_memory.h"

#include <c10/core/CachingDeviceAllocator.h>
#include <dlfcn.h>

#include <array>

namespace foxhunt::train {
namespace {

/// LibTorch's allocator on CUDA; null where no CUDA was loaded.
c10::DeviceAllocator* cuda_allocator() {
  return dynamic_cast<c10::DeviceAllocator*>(c10::GetAllocator(c10::DeviceType::CUDA));
}

/// LibTorch and NVML count GPUs differently (CUDA_VISIBLE_DEVICES); the address is the same.
std::string pci_address(int index) {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return "";
  const auto get_device = reinterpret_cast<int (*)(int*, int)>(::dlsym(driver, "cuDeviceGet"));
  const auto get_address =
      reinterpret_cast<int (*)(char*, int, int)>(::dlsym(driver, "cuDeviceGetPCIBusId"));
  int device = 0;
  std::array<char, 64> text{};
  if (get_device == nullptr || get_address == nullptr || get_device(&device, index) != 0 ||
      get_address(text.data(), static_cast<int>(text.size()), device) != 0)
    return "";
  return text.data();
}

}  // namespace

DeviceMemory device_memory(int index) {
  DeviceMemory memory;
  c10::DeviceAllocator* allocator = cuda_allocator();
  if (allocator == nullptr) return memory;
  if (allocator->initialized()) {
    const auto stats = allocator->getDeviceStats(static_cast<c10::DeviceIndex>(index));
    memory.allocated = stats.allocated_bytes[0].current;  // 0: of all pools together
    memory.allocated_peak = stats.allocated_bytes[0].peak;
    memory.reserved = stats.reserved_bytes[0].current;
    memory.reserved_peak = stats.reserved_bytes[0].peak;
  }
  add_nvml(pci_address(index), memory);
  return memory;
}

void reset_device_peaks(int index) {
  c10::DeviceAllocator* allocator = cuda_allocator();
  if (allocator != nullptr && allocator->initialized())
    allocator->resetPeakStats(static_cast<c10::DeviceIndex>(index));
}

}  // namespace foxhunt::train
