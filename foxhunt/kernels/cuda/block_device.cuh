#pragma once
// A thread block on the GPU, with the interface of block_host.h. nvcc only.

namespace foxhunt::kernels::cuda {

template <int kThreadCount>
class DeviceBlock {
 public:
  static constexpr int kThreads = kThreadCount;

  /// A value that each thread keeps over phases: its registers.
  template <class T>
  class Local {
   public:
    __device__ T& operator[](int) { return own_; }

   private:
    T own_;
  };

  template <class Phase>
  __device__ void run(const Phase& phase) {
    phase(static_cast<int>(threadIdx.x));
    __syncthreads();
  }
};

}  // namespace foxhunt::kernels::cuda
