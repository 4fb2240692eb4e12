// NVIDIA's management library, opened at run time. Its few types are written down here, so that
// nothing of CUDA is needed to build.
#include <dlfcn.h>
#include <unistd.h>

#include <vector>

#include "foxhunt/train/memory/device_memory.h"

namespace foxhunt::train {
namespace {

using Device = void*;
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned int pid;
  unsigned long long used;
  unsigned int gpu_instance, compute_instance;
};
constexpr unsigned long long kUnknown = ~0ULL;
constexpr int kSizeTooSmall = 7;

struct Nvml {
  int (*by_address)(const char*, Device*) = nullptr;
  int (*memory)(Device, Memory*) = nullptr;
  int (*processes)(Device, unsigned int*, Process*) = nullptr;
  bool open = false;

  Nvml() {
    void* library = ::dlopen("libnvidia-ml.so.1", RTLD_NOW);  // never closed
    if (library == nullptr) return;
    const auto init = reinterpret_cast<int (*)()>(::dlsym(library, "nvmlInit_v2"));
    by_address = reinterpret_cast<decltype(by_address)>(
        ::dlsym(library, "nvmlDeviceGetHandleByPciBusId_v2"));
    memory = reinterpret_cast<decltype(memory)>(::dlsym(library, "nvmlDeviceGetMemoryInfo"));
    processes = reinterpret_cast<decltype(processes)>(
        ::dlsym(library, "nvmlDeviceGetComputeRunningProcesses_v3"));
    open = init != nullptr && by_address != nullptr && init() == 0;
  }
};

}  // namespace

void add_nvml(const std::string& pci_address, DeviceMemory& out) {
  if (pci_address.empty()) return;
  static const Nvml nvml;
  Device device = nullptr;
  if (!nvml.open || nvml.by_address(pci_address.c_str(), &device) != 0) return;
  Memory memory{};
  if (nvml.memory != nullptr && nvml.memory(device, &memory) == 0) {
    out.used = static_cast<std::int64_t>(memory.used);
    out.total = static_cast<std::int64_t>(memory.total);
  }
  if (nvml.processes == nullptr) return;
  unsigned int count = 64;
  std::vector<Process> found(count);
  int code = nvml.processes(device, &count, found.data());
  if (code == kSizeTooSmall) {
    count += 64;
    found.resize(count);
    code = nvml.processes(device, &count, found.data());
  }
  if (code != 0) return;
  found.resize(count);
  const auto self = static_cast<unsigned int>(::getpid());
  for (const Process& process : found) {
    if (process.pid == self && process.used != kUnknown)
      out.process = static_cast<std::int64_t>(process.used);
  }
}

}  // namespace foxhunt::train
