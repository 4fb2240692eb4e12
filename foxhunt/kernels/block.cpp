#include "foxhunt/kernels/block.h"

#include <algorithm>

#include "foxhunt/kernels/linear.h"

namespace foxhunt::kernels {
namespace {

/// rms(x) w of all rows; 1/rms into `rstd` or nowhere.
template <class T>
void norm_rows(const KernelTableOf<T>& kernels, const BlockShape& shape, std::int64_t rows,
               const T* x, const T* weight, T* out, T* rstd) {
  const std::int64_t D = shape.d_model;
  kernels.gate_norm_forward({rows, D, 1, Gate::kGateFirst, static_cast<T>(shape.norm_eps), x, D,
                             nullptr, 0, weight, out, D, rstd});
}

}  // namespace

template <class T>
void block_forward(const KernelTableOf<T>& kernels, const BlockShape& shape,
                   const BlockWeights<T>& weights, const ChunkPlan& plan, std::int64_t batch,
                   std::int64_t tokens, const T* x, const BlockStates<T>& states,
                   const BlockSaved<T>& saved, T* out) {
  const std::int64_t D = shape.d_model;
  const std::int64_t rows = batch * tokens;
  const std::int64_t width = shape.mixer.proj_width();
  {
    const Scratch<T> normed(rows * D);
    norm_rows(kernels, shape, rows, x, weights.norm, normed.data(), saved.rstd);
    linear_forward(kernels, rows, D, width, normed.data(), weights.in_proj, weights.in_bias,
                   saved.proj, /*accumulate=*/false);
  }
  mixer_forward(
      kernels, shape.mixer, weights.mixer, plan,
      {batch, tokens, saved.proj, width, states.conv, states.ssm},
      {saved.mixed, states.conv_next, states.ssm_next, saved.chunk_states, saved.mixer_rstd});
  std::copy_n(x, rows * D, out);
  linear_forward(kernels, rows, shape.mixer.inner(), D, saved.mixed, weights.out_proj,
                 weights.out_bias, out, /*accumulate=*/true);
}

template <class T>
void block_backward(const KernelTableOf<T>& kernels, const BlockShape& shape,
                    const BlockWeights<T>& weights, const ChunkPlan& plan, std::int64_t batch,
                    std::int64_t tokens, const T* x, const BlockStates<T>& states,
                    const BlockSaved<T>& saved, const BlockUpstream<T>& upstream,
                    const BlockGradients<T>& g) {
  const std::int64_t D = shape.d_model;
  const std::int64_t rows = batch * tokens;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const Scratch<T> dmixed(rows * inner);
  const Scratch<T> dproj(rows * width);
  const Scratch<T> normed(rows * D);
  const Scratch<T> dnormed(rows * D);
  linear_backward_input(kernels, rows, inner, D, upstream.out, weights.out_proj, dmixed.data());
  linear_backward_weight(kernels, rows, inner, D, upstream.out, saved.mixed, g.out_proj,
                         g.out_bias);
  mixer_backward(
      kernels, shape.mixer, weights.mixer, plan,
      {batch, tokens, saved.proj, width, states.conv, states.ssm},
      {saved.chunk_states, saved.mixer_rstd, dmixed.data(), upstream.conv_next, upstream.ssm_next},
      {dproj.data(), g.conv, g.conv_bias, g.dt_bias, g.A, g.D, g.mixer_norm, g.conv_state,
       g.ssm_state});
  norm_rows<T>(kernels, shape, rows, x, weights.norm, normed.data(), nullptr);
  linear_backward_weight(kernels, rows, D, width, dproj.data(), normed.data(), g.in_proj,
                         g.in_bias);
  linear_backward_input(kernels, rows, D, width, dproj.data(), weights.in_proj, dnormed.data());
  kernels.gate_norm_backward({rows, D, 1, Gate::kGateFirst, x, D, nullptr, 0, weights.norm,
                              saved.rstd, dnormed.data(), D, g.x, D, nullptr, 0, g.norm});
  for (std::int64_t i = 0; i < rows * D; ++i) g.x[i] += upstream.out[i];
}

template void block_forward(const KernelTableOf<float>&, const BlockShape&,
                            const BlockWeights<float>&, const ChunkPlan&, std::int64_t,
                            std::int64_t, const float*, const BlockStates<float>&,
                            const BlockSaved<float>&, float*);
template void block_backward(const KernelTableOf<float>&, const BlockShape&,
                             const BlockWeights<float>&, const ChunkPlan&, std::int64_t,
                             std::int64_t, const float*, const BlockStates<float>&,
                             const BlockSaved<float>&, const BlockUpstream<float>&,
                             const BlockGradients<float>&);

}  // namespace foxhunt::kernels
