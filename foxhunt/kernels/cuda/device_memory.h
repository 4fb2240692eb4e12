#pragma once
// Memory of a GPU for self-tests and benchmarks of the kernels; models use LibTorch's. With nvcc
// device_memory.cu, without it no_cuda.cpp.

#include <cstddef>
#include <string>
#include <vector>

namespace foxhunt::kernels::cuda {

/// GPUs that can be used; 0 without a driver, and in a build without nvcc.
int device_count() noexcept;
/// "NVIDIA H100 80GB HBM3 (sm_90)". Errors  DeviceError.
std::string device_name(int device);
/// Waits for everything on the device. Errors  DeviceError: a kernel failed.
void synchronise(int device);

/// Allocations that live as long as this. Errors of all functions  DeviceError.
class DeviceMemory {
 public:
  explicit DeviceMemory(int device) : device_(device) {}
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A copy of `values` on the device.
  template <class T>
  T* put(const std::vector<T>& values) {
    auto* there = static_cast<T*>(allocate(values.size() * sizeof(T)));
    copy_to(there, values.data(), values.size() * sizeof(T));
    return there;
  }
  template <class T>
  void write(T* there, const std::vector<T>& values) {
    copy_to(there, values.data(), values.size() * sizeof(T));
  }
  template <class T>
  void get(const T* there, std::vector<T>& values) {
    copy_from(values.data(), there, values.size() * sizeof(T));
  }
  void* allocate(std::size_t bytes);
  /// From the device to itself, on its default stream; does not wait.
  void copy_inside(void* to, const void* from, std::size_t bytes) const;

 private:
  void copy_to(void* there, const void* here, std::size_t bytes) const;
  void copy_from(void* here, const void* there, std::size_t bytes) const;

  int device_;
  std::vector<void*> blocks_;
};

}  // namespace foxhunt::kernels::cuda
