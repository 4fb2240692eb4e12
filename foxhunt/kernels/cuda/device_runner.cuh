#pragma once
// Runs an algorithm of this folder on the GPU. nvcc only.

#include <cuda_runtime.h>

#include "foxhunt/kernels/cuda/block_device.cuh"
#include "foxhunt/kernels/cuda/check.h"
#include "foxhunt/kernels/cuda/launch.h"
#include "foxhunt/kernels/cuda/plan.h"

namespace foxhunt::kernels::cuda {

/// Blocks that a multiprocessor must be able to hold: bounds the registers of a thread to 128.
inline constexpr int kBlocksPerCore = 2;

/// Block after block takes the items that are left, along the one axis x.
template <class Algorithm>
__global__ void __launch_bounds__(Algorithm::kThreads, kBlocksPerCore)
    run_items(const __grid_constant__ typename Algorithm::Args args, std::int64_t items) {
  __shared__ typename Algorithm::Shared shared;
  DeviceBlock<Algorithm::kThreads> block;
  for (std::int64_t item = blockIdx.x; item < items; item += gridDim.x)
    Algorithm::run(block, shared, args, item);
}

/// Makes `device` current and the one before it again.
class CurrentDevice {
 public:
  explicit CurrentDevice(int device) {
    set(cudaGetDevice(&before_));
    if (before_ != device) set(cudaSetDevice(device));
  }
  ~CurrentDevice() { cudaSetDevice(before_); }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  static void set(cudaError_t code) {
    if (code != cudaSuccess) throw_cuda_error("no such device", cudaGetErrorString(code));
  }
  int before_ = 0;
};

class DeviceRunner {
 public:
  explicit DeviceRunner(On where) : where_(where), current_(where.device) {}

  template <class Algorithm>
  void run(const typename Algorithm::Args& args) const {
    const std::int64_t items = Algorithm::items(args);
    const auto blocks = static_cast<unsigned>(grid_size(items));
    run_items<Algorithm><<<blocks, Algorithm::kThreads, 0, where_.stream>>>(args, items);
    const cudaError_t code = cudaGetLastError();
    if (code != cudaSuccess)
      throw_launch_error(Algorithm::kName, args.shape, blocks, Algorithm::kThreads, where_.device,
                         cudaGetErrorString(code));
  }

 private:
  On where_;
  CurrentDevice current_;
};

}  // namespace foxhunt::kernels::cuda
