#pragma once
// The backward pass: its steps in order.

#include "foxhunt/kernels/cuda/chunk_gradients.h"
#include "foxhunt/kernels/cuda/state_gradients.h"
#include "foxhunt/kernels/cuda/sums.h"

namespace foxhunt::kernels::cuda {

template <class Runner, class In, class Real>
void sum_rows(const Runner& device, const BackwardArgs<In, Real>& a, std::int64_t offset,
              Real* out) {
  const std::int64_t rows = a.shape.batch * chunk_count(a.shape);
  const std::int64_t stripes = stripe_count(rows);
  Real* between = a.workspace + backward_workspace(a.shape).stripes;
  device.template run<SumRows<Real>>(
      SumRowsArgs<Real>{a.shape, a.workspace + offset, rows, a.shape.heads, stripes, between});
  device.template run<SumRows<Real>>(
      SumRowsArgs<Real>{a.shape, between, stripes, a.shape.heads, 1, out});
}

template <int Q, class Runner, class In, class Real>
void ssd_backward(const Runner& device, const BackwardArgs<In, Real>& args) {
  device.template run<ChunkStateGradients<In, Real, Q>>(args);
  device.template run<PassStateGradients<In, Real, Q>>(args);
  device.template run<ChunkGradients<In, Real, Q>>(args);
  device.template run<SumHeads<In, Real>>(args);
  sum_rows(device, args, backward_workspace(args.shape).dA, args.dA);
  if (args.dD != nullptr) sum_rows(device, args, backward_workspace(args.shape).dD, args.dD);
}

}  // namespace foxhunt::kernels::cuda
