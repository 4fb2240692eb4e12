// The kernels for bfloat16 inputs.
#include "foxhunt/kernels/cuda/device_runner.cuh"
#include "foxhunt/kernels/cuda/dispatch.h"

namespace foxhunt::kernels::cuda {

void launch_forward(const ForwardArgs<Bf16, float>& args, On where) {
  check(args);
  DeviceRunner runner(where);
  run_forward(runner, args);
}

void launch_backward(const BackwardArgs<Bf16, float>& args, On where) {
  check(args);
  DeviceRunner runner(where);
  run_backward(runner, args);
}

void launch_step(const StepArgs<Bf16, float>& args, On where) {
  check(args);
  DeviceRunner runner(where);
  run_step(runner, args);
}

}  // namespace foxhunt::kernels::cuda
