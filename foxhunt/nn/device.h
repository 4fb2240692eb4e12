#pragma once
// Devices by name, opened before anything else asks for them. Torch-free.
//
// Programs link only the CPU half of LibTorch. CUDA's half is loaded at run time, and must be
// loaded before anything asks LibTorch about CUDA: the library remembers its absence for the rest
// of the process.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace foxhunt::nn {

enum class DeviceKind { kCpu, kCuda };

struct DeviceSpec {
  DeviceKind kind = DeviceKind::kCpu;
  int index = 0;  ///< of the GPU; 0 for the CPU

  std::string text() const;  ///< "cpu", "cuda:1"
  friend bool operator==(const DeviceSpec&, const DeviceSpec&) = default;
};

/// "cpu", "cuda" (= "cuda:0"), "cuda:3". Errors  UsageError naming the choices.
DeviceSpec parse_device(std::string_view text);

/// Makes the device usable; nothing to do for the CPU. Call it before the first tensor is made.
/// Errors  DeviceError with the reason (libraries missing, no driver, no GPU, no such index) and
/// what to do about it.
///         There is no falling back to the CPU.
void open_device(const DeviceSpec& device);

struct CudaReport {
  bool available = false;
  std::string reason;             ///< why not; empty when available
  std::vector<std::string> gpus;  ///< "cuda:0 NVIDIA … (80 GiB)"
};
/// Loads CUDA's half if it is there, and says what came of it.
CudaReport cuda_report();

std::string torch_version();  ///< "2.11.0"
int torch_threads();          ///< threads of one operation
void set_torch_threads(int count);

}  // namespace foxhunt::nn
