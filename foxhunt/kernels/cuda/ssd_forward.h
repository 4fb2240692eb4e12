#pragma once
// The forward pass: its steps in order.
//
//   ChunkStates    what each chunk adds to the state             a tile of [P, N] an item
//   PassStates     the states that enter the chunks, in order    256 values an item
//   ChunkOutputs   y                                             a chunk of a head an item

#include "foxhunt/kernels/cuda/chunk_outputs.h"
#include "foxhunt/kernels/cuda/chunk_states.h"

namespace foxhunt::kernels::cuda {

/// The steps in order. `device.template run<Algorithm>(args)` runs all items of one.
template <int Q, class Runner, class In, class Real>
void ssd_forward(const Runner& device, const ForwardArgs<In, Real>& args) {
  device.template run<ChunkStates<In, Real, Q>>(args);
  device.template run<PassStates<In, Real, Q>>(args);
  device.template run<ChunkOutputs<In, Real, Q>>(args);
}

}  // namespace foxhunt::kernels::cuda
