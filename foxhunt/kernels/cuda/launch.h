#pragma once
// The kernels as plain functions: operands on a device, sizes, a stream. Compiled by nvcc
// (ssd_f32.cu, ssd_bf16.cu); without it no_cuda.cpp defines the same functions.
//
// Errors  ShapeError: sizes or operands that cannot be. DeviceError naming kernel, sizes and
// device:
//         a launch that failed, or a build without nvcc.
// Numbers float32 sums, states and decays, whatever In is. Every sum has one order: the same call
//         gives the same bits.
// Cost    no allocation, no synchronisation, no tuning; 3 launches forward, 6 to 8 backward.

#include "foxhunt/kernels/cuda/ssd_args.h"

struct CUstream_st;  ///< cudaStream_t is a pointer to it

namespace foxhunt::kernels::cuda {

struct On {
  int device;
  CUstream_st* stream;  ///< null: the default stream
};

void launch_forward(const ForwardArgs<float, float>& args, On where);
void launch_forward(const ForwardArgs<Bf16, float>& args, On where);
void launch_backward(const BackwardArgs<float, float>& args, On where);
void launch_backward(const BackwardArgs<Bf16, float>& args, On where);
void launch_step(const StepArgs<float, float>& args, On where);
void launch_step(const StepArgs<Bf16, float>& args, On where);

}  // namespace foxhunt::kernels::cuda
