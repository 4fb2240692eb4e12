#pragma once
// What the launchers refuse, and the texts of errors.

#include <cstdint>

#include "foxhunt/kernels/cuda/ssd_args.h"

namespace foxhunt::kernels::cuda {

/// Errors  ShapeError naming sizes and rule, unless every size is positive, groups divide heads and
/// the counts of values stay within 63 bits.
void check_shape(const char* kernel, const Shape& shape);

/// Errors  ShapeError naming the operand, where `pointer` is null.
void check_operand(const char* kernel, const char* operand, const void* pointer);

/// DeviceError "[ssd_chunk_states] invalid configuration argument; B=64 T=4096 …, 12 blocks of 256
/// threads on cuda:0".
[[noreturn]] void throw_launch_error(const char* kernel, const Shape& shape, std::int64_t blocks,
                                     int threads, int device, const char* reason);

/// DeviceError "[cuda] reason".
[[noreturn]] void throw_cuda_error(const char* what, const char* reason);

/// The operands that have to be there.
template <class In, class Real>
void check_inputs(const char* kernel, const Inputs<In, Real>& in) {
  check_operand(kernel, "x", in.x);
  check_operand(kernel, "B", in.B);
  check_operand(kernel, "C", in.C);
  check_operand(kernel, "dt", in.dt);
  check_operand(kernel, "A", in.A);
}
template <class In, class Real>
void check(const ForwardArgs<In, Real>& a) {
  check_shape("ssd_forward", a.shape);
  check_inputs("ssd_forward", a.in);
  check_operand("ssd_forward", "y", a.y);
  check_operand("ssd_forward", "enter", a.enter);
  check_operand("ssd_forward", "through", a.through);
  check_operand("ssd_forward", "final_state", a.final_state);
}
template <class In, class Real>
void check(const BackwardArgs<In, Real>& a) {
  check_shape("ssd_backward", a.shape);
  check_inputs("ssd_backward", a.in);
  check_operand("ssd_backward", "enter", a.enter);
  check_operand("ssd_backward", "through", a.through);
  check_operand("ssd_backward", "dy", a.dy);
  check_operand("ssd_backward", "dx", a.dx);
  check_operand("ssd_backward", "dB", a.dB);
  check_operand("ssd_backward", "dC", a.dC);
  check_operand("ssd_backward", "ddt", a.ddt);
  check_operand("ssd_backward", "dA", a.dA);
  check_operand("ssd_backward", "dstate", a.dstate);
  check_operand("ssd_backward", "workspace", a.workspace);
  if (a.in.D != nullptr) check_operand("ssd_backward", "dD", a.dD);
}
template <class In, class Real>
void check(const StepArgs<In, Real>& a) {
  check_shape("ssd_step", a.shape);
  check_operand("ssd_step", "x", a.x);
  check_operand("ssd_step", "B", a.B);
  check_operand("ssd_step", "C", a.C);
  check_operand("ssd_step", "dt", a.dt);
  check_operand("ssd_step", "A", a.A);
  check_operand("ssd_step", "state", a.state);
  check_operand("ssd_step", "y", a.y);
  check_operand("ssd_step", "next_state", a.next_state);
}

}  // namespace foxhunt::kernels::cuda
