// Stands in for the .cu files where there is no nvcc.
#include "foxhunt/kernels/cuda/check.h"
#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/launch.h"

namespace foxhunt::kernels::cuda {
namespace {

[[noreturn]] void refuse(const char* what) {
  throw_cuda_error(what, "this program was built without nvcc");
}

}  // namespace

void launch_forward(const ForwardArgs<float, float>&, On) { refuse("ssd_forward"); }
void launch_forward(const ForwardArgs<Bf16, float>&, On) { refuse("ssd_forward"); }
void launch_backward(const BackwardArgs<float, float>&, On) { refuse("ssd_backward"); }
void launch_backward(const BackwardArgs<Bf16, float>&, On) { refuse("ssd_backward"); }
void launch_step(const StepArgs<float, float>&, On) { refuse("ssd_step"); }
void launch_step(const StepArgs<Bf16, float>&, On) { refuse("ssd_step"); }

int device_count() noexcept { return 0; }
std::string device_name(int) { refuse("device_name"); }
void synchronise(int) { refuse("synchronise"); }
DeviceMemory::~DeviceMemory() = default;
void* DeviceMemory::allocate(std::size_t) { refuse("allocate"); }
void DeviceMemory::copy_inside(void*, const void*, std::size_t) const { refuse("copy_inside"); }
void DeviceMemory::copy_to(void*, const void*, std::size_t) const { refuse("copy_to"); }
void DeviceMemory::copy_from(void*, const void*, std::size_t) const { refuse("copy_from"); }

}  // namespace foxhunt::kernels::cuda
