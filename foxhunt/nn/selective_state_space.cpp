#include "foxhunt/nn/selective_state_space.h"

#include <ATen/TensorOperators.h>

#include <utility>

#include "foxhunt/nn/ops/ssd_gpu.h"
#include "foxhunt/nn/ops/step_size.h"

namespace foxhunt::nn {

SelectiveStateSpace::SelectiveStateSpace(const model::Mamba2Config& config, at::Tensor dt_bias,
                                         at::Tensor A_log, at::Tensor D)
    : config_(config),
      sizes_{config.n_heads(), config.headdim, config.ngroups, config.d_state},
      dt_bias_(std::move(dt_bias)),
      a_log_(std::move(A_log)),
      d_(std::move(D)) {}

at::Tensor SelectiveStateSpace::step_size(const at::Tensor& raw) const {
  return limited_softplus(raw + dt_bias_, config_.dt_limit_min, config_.dt_limit_max);
}

Kernels SelectiveStateSpace::kernels_for(const at::Tensor& xbc, const at::Tensor& dt,
                                         const at::Tensor& state) const {
  const bool native = kernels_ == Kernels::kNative && gpu_kernels_take(xbc, dt, state);
  return native ? Kernels::kNative : Kernels::kAten;
}

SsdResult SelectiveStateSpace::window(const at::Tensor& xbc, const at::Tensor& dt,
                                      const at::Tensor& state, const at::Tensor& segments) const {
  if (kernels_for(xbc, dt, state) == Kernels::kNative)
    return ssd_window_gpu(sizes_, xbc, dt, a_log_.exp().neg(), d_, state, segments);
  return ssd_window(sizes_, xbc, dt, a_log_.exp().neg(), d_, state, segments, config_.chunk());
}

SsdResult SelectiveStateSpace::step(const at::Tensor& xbc, const at::Tensor& dt,
                                    const at::Tensor& state) const {
  if (kernels_for(xbc, dt, state) == Kernels::kNative)
    return ssd_step_gpu(sizes_, xbc, dt, a_log_.exp().neg(), d_, state);
  return ssd_step(sizes_, xbc, dt, a_log_.exp().neg(), d_, state);
}

}  // namespace foxhunt::nn
