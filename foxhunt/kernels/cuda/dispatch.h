#pragma once
// From sizes to the instantiation that fits them; the same for the GPU and the host.

#include "foxhunt/kernels/cuda/ssd_backward.h"
#include "foxhunt/kernels/cuda/ssd_forward.h"
#include "foxhunt/kernels/cuda/ssd_step.h"

namespace foxhunt::kernels::cuda {

template <class Runner, class In, class Real>
void run_forward(const Runner& device, const ForwardArgs<In, Real>& args) {
  switch (pick_chunk(args.shape)) {
    case 16:
      return ssd_forward<16>(device, args);
    case 32:
      return ssd_forward<32>(device, args);
    default:
      return ssd_forward<64>(device, args);
  }
}

template <class Runner, class In, class Real>
void run_backward(const Runner& device, const BackwardArgs<In, Real>& args) {
  switch (pick_chunk(args.shape)) {
    case 16:
      return ssd_backward<16>(device, args);
    case 32:
      return ssd_backward<32>(device, args);
    default:
      return ssd_backward<64>(device, args);
  }
}

template <class Runner, class In, class Real>
void run_step(const Runner& device, const StepArgs<In, Real>& args) {
  device.template run<Step<In, Real>>(args);
}

}  // namespace foxhunt::kernels::cuda
