#pragma once
// Memory of a GPU, asked for without linking CUDA. Torch-free.

#include <cstdint>
#include <optional>
#include <string>

namespace foxhunt::train {

/// Bytes; empty: nobody can tell. Never an error.
struct DeviceMemory {
  std::optional<std::int64_t> allocated{};  ///< of tensors, by LibTorch's allocator
  std::optional<std::int64_t> allocated_peak{};
  std::optional<std::int64_t> reserved{};  ///< what that allocator holds
  std::optional<std::int64_t> reserved_peak{};
  std::optional<std::int64_t> process{};  ///< of this process, by NVML
  std::optional<std::int64_t> used{};     ///< of the whole GPU, by NVML
  std::optional<std::int64_t> total{};
};
/// `index` as LibTorch counts, of a device that is open (nn/device.h).
DeviceMemory device_memory(int index);
/// The allocator's peaks begin anew.
void reset_device_peaks(int index);

/// NVML's part alone, for the GPU with this PCI address ("0000:1b:00.0"); "" or no
/// libnvidia-ml.so.1: nothing.
void add_nvml(const std::string& pci_address, DeviceMemory& memory);

}  // namespace foxhunt::train
