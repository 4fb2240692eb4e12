#include "foxhunt/kernels/cuda/self_test.h"

#include <cstdint>

#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/launch.h"
#include "foxhunt/kernels/cuda/self_test_problems.h"

namespace foxhunt::kernels::cuda {
namespace {

/// The kernels on a GPU, on its default stream.
struct Gpu {
  int device;

  DeviceMemory memory() const { return DeviceMemory(device); }
  template <class Args>
  void forward(const Args& args) const {
    launch_forward(args, {device, nullptr});
  }
  template <class Args>
  void backward(const Args& args) const {
    launch_backward(args, {device, nullptr});
  }
  template <class Args>
  void step(const Args& args) const {
    launch_step(args, {device, nullptr});
  }
};

}  // namespace

SelfTestReport self_test(int device) {
  SelfTestReport report = run_self_test(Gpu{device});
  synchronise(device);  // the last word on launches that failed later
  return report;
}

}  // namespace foxhunt::kernels::cuda
