#pragma once
// AdamW with decoupled decay over one flat buffer, the global gradient norm, and the sum of the
// lanes' gradients, along the tree of ranks/lane_tree.h.
//
// Taking parameters over moves them into the buffer: their tensors become views of it. On the CPU
// in float32 everything is one pass of a kernel; elsewhere it is a handful of LibTorch operations
// on the flat tensors, with every scalar a plain number of the host or on the parameters' device.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/ranks/gradient_exchange.h"
#include "foxhunt/train/ready_hooks.h"
#include "foxhunt/train/train_config.h"

namespace foxhunt::train {

using NamedParameters = std::vector<std::pair<std::string, at::Tensor>>;

/// Weight matrices and convolutions decay; A_log, dt_bias, D, norms and biases (everything with one
/// axis) do not.
bool decays(const at::Tensor& parameter);

class Optimizer {
 public:
  Optimizer(NamedParameters parameters, const OptimizerConfig& config);

  /// Another copy of the model, whose tensors become views of the same weights and whose gradients
  /// are added to the others', as the next lane.
  /// Errors  ConfigError when names or shapes differ.
  void add_lane(NamedParameters replica);

  /// From now on these lanes are `own` of the `total` that `ranks` share, and sums run over all of
  /// them. After the last add_lane(). Errors  ConfigError: parameters are not float32.
  void share(ranks::Ranks& ranks, ranks::LaneRange own, std::int64_t total);
  /// What share() set up; null without.
  ranks::GradientExchange* exchange() const { return exchange_.get(); }

  /// Forgets the gradients of every lane. The next ones come from lanes [0, used) of all ranks';
  /// -1: all.
  void zero_grad(std::int64_t used = -1);
  /// Gives the memory of the gradients back, until zero_grad() and the next ones.
  void drop_gradients();
  /// Root of the sum of squares over all gradients, lanes added up: a 0-dim tensor on the
  /// parameters' device. Errors  Error: no parameter has a gradient.
  at::Tensor grad_norm();
  /// gradients *= min(1, clip_norm / (norm + 1e-6)), on the device.
  void clip(const at::Tensor& norm);
  /// One AdamW step with this learning rate.
  void step(double lr);

  /// Moments and step count of every parameter, as they go into a checkpoint.
  NamedParameters state() const;
  /// Errors  FormatError naming a missing or misshapen tensor.
  void load_state(const NamedParameters& state);

 private:
  struct Place {
    std::int64_t offset = 0, count = 0;
  };
  at::Tensor view_of(const at::Tensor& flat, std::size_t index) const;
  /// Sums the lanes' gradients into gradient_; true if any parameter has one.
  bool gather();
  bool gather_on_cpu();
  bool gather_here();
  void exchange_gradients();
  void step_segment(Place segment, double decay, double lr);

  std::vector<NamedParameters> lanes_;  ///< the first is the model itself
  std::vector<Place> places_;
  OptimizerConfig config_;
  Place decayed_, kept_;  ///< what decays lies in front
  bool on_cpu_ = false;   ///< float32 on the CPU: kernels
  at::Tensor weight_, gradient_, m_, v_;
  std::vector<float> zeros_;  ///< of a lane's parameter without gradient
  at::Tensor host_;           ///< gradients to be exchanged that lie on another device
  ranks::LaneRange own_{};    ///< lanes, where they are shared
  std::int64_t used_ = -1;
  double squares_ = 0.0;
  double scale_ = 1.0;
  bool gathered_ = false;
  std::int64_t steps_ = 0;
  std::unique_ptr<ranks::GradientExchange> exchange_;  ///< its thread reads the others
  std::unique_ptr<ReadyHooks> hooks_;
};

}  // namespace foxhunt::train
