#pragma once
// The whole model as a LibTorch module on an explicit device: rows in, answers out.
//
//   r = in_proj(x)                      [B, T, F] -> [B, T, D]; token models look x up instead
//   r = r + mixer_i(rms(r) norm_i)      for every layer; the residual stream is float32 (float64 in
//   float64 models) out = head(rms(r) norm_f)           [B, T, D] -> [B, T, K]
//
// Parameter names are those of model/tensor_list.h, which are mamba_ssm's and transformers'.

#include <torch/nn/module.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/mamba2_state.h"
#include "foxhunt/nn/parts.h"
#include "foxhunt/nn/performance.h"
#include "foxhunt/nn/single_stream.h"
#include "foxhunt/nn/ssd_layer.h"

namespace foxhunt::nn {

/// What the model saw on the way, for health reports and tests. Part of the graph.
struct ModelTrace {
  std::vector<LayerTrace> layers;
  at::Tensor last_hidden;  ///< [B, T, D] behind the last norm
};

class Mamba2SSM : public torch::nn::Module {
 public:
  /// Parameters on `device`, initialised with seed 0. `dtype` is kFloat or kDouble.
  /// Errors  ConfigError with everything that is wrong in config and head.
  Mamba2SSM(const model::Mamba2Config& config, const model::HeadConfig& head, at::Device device,
            at::ScalarType dtype = at::ScalarType::Float);
  ~Mamba2SSM() override;

  static std::shared_ptr<Mamba2SSM> default_hft(at::Device device,
                                                const model::HeadConfig& head = {});

  /// Draws every parameter anew. The same seed gives the same values on every device; nothing
  /// happens on meta.
  void initialise(std::uint64_t seed);

  /// x [B, T, F] (tokens: [B, T] int64), T >= 1 -> [B, T, K], zeros beyond a row's length. `state`
  /// is advanced. Any split of a window into calls gives what one call gives, states included.
  /// Errors  ShapeError, DeviceError naming both devices and the tensor.
  at::Tensor forward(const at::Tensor& x, Mamba2State& state, const WindowMarks& marks = {},
                     ModelTrace* trace = nullptr);
  /// The same from a zero state that is forgotten.
  at::Tensor forward(const at::Tensor& x, const WindowMarks& marks = {},
                     ModelTrace* trace = nullptr);

  /// One row a stream: x [B, F] (tokens: [B]) -> [B, K].
  at::Tensor step(const at::Tensor& x, Mamba2State& state, ModelTrace* trace = nullptr);

  /// Mamba2State::zeros for this model, on its device.
  Mamba2State zero_state(std::int64_t batch) const;

  /// One row in, one answer out (logits, value or quantiles, as forward() gives them), on the
  /// model's own device, the state kept inside. No gradients. On the CPU in float32 through the
  /// kernels that serve, with the weights as they were at the first call after construction,
  /// initialise(), use_kernels() or reset_prediction_state(). Errors    ShapeError naming both
  /// widths; DeviceError on the meta device. Lifetime  of the answer: until the next call.
  std::span<const float> predict_single_fast(std::span<const float> features);
  /// Forgets what predict_single_fast has seen, and takes the weights anew.
  void reset_prediction_state();
  PerformanceMetrics performance_metrics() const;

  /// What that comes to on the model's device: kAten where there is no kernel for it, or the GPU's
  /// failed their self-test.
  Kernels kernels_in_use() const;

  at::Device device() const { return device_; }
  /// Who computes from now on; kNative at first.
  void use_kernels(Kernels kernels);
  Kernels kernels() const { return kernels_; }
  /// True: the backward pass computes every block again from its input instead of keeping what is
  /// inside (ops/recompute.h). The same numbers either way; false at first.
  void recompute_blocks(bool on) { recompute_ = on; }
  bool recomputes_blocks() const { return recompute_; }
  at::ScalarType dtype() const { return dtype_; }
  const model::Mamba2Config& config() const { return config_; }
  const model::HeadConfig& head_config() const { return head_config_; }
  SSDLayer& layer(std::int64_t index);

  /// A model stays where it was built. Errors  DeviceError naming both devices.
  void to(at::Device device, at::ScalarType dtype, bool non_blocking = false) override;
  void to(at::ScalarType dtype, bool non_blocking = false) override;
  void to(at::Device device, bool non_blocking = false) override;

 private:
  struct Block;
  struct Backbone;
  at::Tensor embed(const at::Tensor& x) const;
  at::Tensor run_block(Block& block, const at::Tensor& residual, LayerState* state,
                       const PreparedMarks& marks, LayerTrace* seen);
  /// Through all blocks; `states` has a layer each, or is null: zero, and forgotten.
  at::Tensor run_blocks(at::Tensor residual, std::vector<LayerState>* states,
                        const PreparedMarks& marks, ModelTrace* trace);
  at::Tensor answer(const at::Tensor& residual, ModelTrace* trace) const;
  std::span<const float> predict_with_torch(std::span<const float> features);
  void check_input(const at::Tensor& x, bool windowed) const;

  model::Mamba2Config config_;
  model::HeadConfig head_config_;
  at::Device device_;
  at::ScalarType dtype_;
  Kernels kernels_ = Kernels::kNative;
  bool recompute_ = false;
  std::shared_ptr<Backbone> backbone_;
  std::shared_ptr<LinearPart> head_;             ///< null where the head is the embedding itself
  std::optional<SingleStream> stream_;           ///< where there are kernels for it,
  std::optional<Mamba2State> prediction_state_;  ///< else LibTorch's step
  at::Tensor prediction_;                        ///< [K] float32 on the CPU
  LatencyRecorder latency_;
};

}  // namespace foxhunt::nn
