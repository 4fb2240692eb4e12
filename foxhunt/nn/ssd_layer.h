#pragma once
// One Mamba-2 layer: in_proj, causal convolution, state space, gate and norm, out_proj. No norm in
// front of it and no residual behind it: those are the model's.

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include "foxhunt/base/rng.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/backend.h"
#include "foxhunt/nn/mamba2_state.h"
#include "foxhunt/nn/marks.h"
#include "foxhunt/nn/ops/mixer.h"
#include "foxhunt/nn/parts.h"
#include "foxhunt/nn/selective_state_space.h"

namespace foxhunt::nn {

/// What a layer saw on the way, for health reports and tests. Part of the graph: detach() before
/// keeping it.
struct LayerTrace {
  at::Tensor y;         ///< [B, T, H, P] of the state space, before gate and norm
  at::Tensor dt;        ///< [B, T, H] step size after the limits
  at::Tensor residual;  ///< [B, T, D] residual stream behind the layer; set by Mamba2SSM only
  at::Tensor xbc{};     ///< [B, T, C] x, B and C side by side, behind convolution and SiLU
};

/// Sizes and limits of a layer's core.
kernels::MixerShape mixer_shape(const model::Mamba2Config& config);

class SSDLayer : public torch::nn::Module {
 public:
  /// Parameters on `device`, initialised with seed 0. `dtype` is kFloat or kDouble.
  /// Errors  ConfigError: config.validate(), layer_id outside [0, n_layer), another dtype.
  SSDLayer(const model::Mamba2Config& config, std::int64_t layer_id, at::Device device,
           at::ScalarType dtype = at::ScalarType::Float);

  /// The distributions of mamba_ssm (in_proj, conv1d, dt_bias, A_log, D, norm, out_proj /
  /// sqrt(n_layer)); the values depend on the seed of `rng` and the layer's number only, not on the
  /// device. Does nothing on the meta device.
  void initialise(const Rng& rng);

  /// u [B, T, D], T >= 1 -> [B, T, D], zeros beyond a row's length. `state` is read and advanced;
  /// without one the window starts from zeros. Errors  ShapeError, DeviceError naming both devices
  /// and the tensor.
  at::Tensor forward(const at::Tensor& u, LayerState* state = nullptr,
                     const WindowMarks& marks = {}, LayerTrace* trace = nullptr);

  /// The same with marks that were prepared for the whole model.
  at::Tensor forward_prepared(const at::Tensor& u, LayerState* state, const PreparedMarks& marks,
                              LayerTrace* trace);

  /// The layer with the norm in front and the residual around it as one operation: r [B, T, D] ->
  /// r + layer(rms(r) norm). Undefined where there is no kernel for it; then go the long way. A
  /// null `state` is zero and forgotten.
  at::Tensor residual_block(const at::Tensor& residual, const at::Tensor& norm, LayerState* state,
                            const PreparedMarks& marks);

  /// One token: u [B, D] -> [B, D]. The same function as forward() with T = 1. Trace tensors have
  /// no T.
  at::Tensor step(const at::Tensor& u, LayerState& state, LayerTrace* trace = nullptr);

  /// What that comes to on this layer's device, for float32 or float64 as the layer is.
  Kernels kernels_in_use() const;

  at::Device device() const { return device_; }

  /// Who computes from now on, the projections included. A trace always goes the LibTorch way.
  void use_kernels(Kernels kernels);

  std::shared_ptr<LinearPart> in_proj;
  std::shared_ptr<ConvPart> conv1d;
  at::Tensor dt_bias;              ///< [H]
  at::Tensor A_log;                ///< [H]
  at::Tensor D;                    ///< [H]; undefined without has_d
  std::shared_ptr<NormPart> norm;  ///< null with GateNorm::kNone
  std::shared_ptr<LinearPart> out_proj;

 private:
  struct Projected {
    at::Tensor z, xbc, dt;  // [.., d_inner], [.., C], [.., H]
  };
  Projected project(const at::Tensor& u) const;
  MixerTensors mixer_tensors(const LayerState& before, const PreparedMarks& marks) const;
  bool native(const LayerTrace* trace) const;
  at::Tensor mix(const at::Tensor& proj, const LayerState& before, LayerState* after,
                 const PreparedMarks& marks) const;
  at::Tensor gate(const at::Tensor& y, const at::Tensor& z) const;
  void check_input(const at::Tensor& u, std::int64_t dims, std::string_view who) const;

  model::Mamba2Config config_;
  std::int64_t layer_id_;
  at::Device device_;
  at::ScalarType dtype_;
  Kernels kernels_ = Kernels::kNative;
  std::unique_ptr<SelectiveStateSpace> core_;
};

}  // namespace foxhunt::nn
