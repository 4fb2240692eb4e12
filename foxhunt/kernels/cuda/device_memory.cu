#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/device_runner.cuh"

namespace foxhunt::kernels::cuda {
namespace {

void expect(cudaError_t code, const char* what) {
  if (code != cudaSuccess) throw_cuda_error(what, cudaGetErrorString(code));
}

}  // namespace

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // no driver: not an error of the next call
  return 0;
}

std::string device_name(int device) {
  cudaDeviceProp properties{};
  expect(cudaGetDeviceProperties(&properties, device), "device properties");
  return std::string(properties.name) + " (sm_" + std::to_string(properties.major) +
         std::to_string(properties.minor) + ")";
}

void synchronise(int device) {
  const CurrentDevice current(device);
  expect(cudaDeviceSynchronize(), "synchronise");
}

DeviceMemory::~DeviceMemory() {
  for (void* block : blocks_) cudaFree(block);
}

void* DeviceMemory::allocate(std::size_t bytes) {
  const CurrentDevice current(device_);
  void* block = nullptr;
  expect(cudaMalloc(&block, bytes == 0 ? 1 : bytes), "allocate");
  blocks_.push_back(block);
  return block;
}

void DeviceMemory::copy_inside(void* to, const void* from, std::size_t bytes) const {
  const CurrentDevice current(device_);
  expect(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy inside the device");
}

void DeviceMemory::copy_to(void* there, const void* here, std::size_t bytes) const {
  const CurrentDevice current(device_);
  expect(cudaMemcpy(there, here, bytes, cudaMemcpyHostToDevice), "copy to the device");
}

void DeviceMemory::copy_from(void* here, const void* there, std::size_t bytes) const {
  const CurrentDevice current(device_);
  expect(cudaMemcpy(here, there, bytes, cudaMemcpyDeviceToHost), "copy from the device");
}

}  // namespace foxhunt::kernels::cuda
