#include "foxhunt/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>
#include <torch/optim/adamw.h>

#include <map>

#include "foxhunt/base/error.h"

namespace foxhunt::train {

using torch::optim::AdamW;
using torch::optim::AdamWOptions;
using torch::optim::AdamWParamState;
using torch::optim::OptimizerParamGroup;

struct Optimizer::Impl {
  std::unique_ptr<AdamW> adamw;
  std::vector<at::Tensor> all;
};

bool decays(const at::Tensor& parameter) { return parameter.dim() >= 2; }

Optimizer::Optimizer(NamedParameters parameters, const OptimizerConfig& config)
    : parameters_(std::move(parameters)),
      clip_norm_(config.clip_norm),
      impl_(std::make_unique<Impl>()) {
  const auto options = [&config](double decay) {
    return std::make_unique<AdamWOptions>(
        AdamWOptions(0.0).betas({config.beta1, config.beta2}).eps(config.eps).weight_decay(decay));
  };
  std::vector<at::Tensor> decayed;
  std::vector<at::Tensor> kept;
  for (const auto& [name, tensor] : parameters_) {
    (decays(tensor) ? decayed : kept).push_back(tensor);
    impl_->all.push_back(tensor);
  }
  std::vector<OptimizerParamGroup> groups;
  if (!decayed.empty()) groups.emplace_back(decayed, options(config.weight_decay));
  if (!kept.empty()) groups.emplace_back(kept, options(0.0));
  impl_->adamw = std::make_unique<AdamW>(std::move(groups), AdamWOptions(0.0));
}

Optimizer::~Optimizer() = default;

void Optimizer::zero_grad() { impl_->adamw->zero_grad(/*set_to_none=*/true); }

at::Tensor Optimizer::grad_norm() const {
  const at::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const at::Tensor& parameter : impl_->all) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  if (gradients.empty()) throw Error(ExitCode::kFailure, "[optimizer] no parameter has a gradient");
  return at::stack(at::_foreach_norm(gradients, 2)).norm();
}

void Optimizer::clip(const at::Tensor& norm) {
  const at::NoGradGuard no_grad;
  const at::Tensor factor = (norm + 1e-6).reciprocal().mul(clip_norm_).clamp_max(1.0);
  for (const at::Tensor& parameter : impl_->all) {
    if (parameter.grad().defined()) parameter.mutable_grad().mul_(factor);
  }
}

void Optimizer::step(double lr) {
  for (OptimizerParamGroup& group : impl_->adamw->param_groups()) group.options().set_lr(lr);
  impl_->adamw->step();
}

NamedParameters Optimizer::state() const {
  NamedParameters state;
  for (const auto& [name, tensor] : parameters_) {
    const auto found = impl_->adamw->state().find(tensor.unsafeGetTensorImpl());
    if (found == impl_->adamw->state().end()) continue;  // before the first step
    auto& moments = static_cast<AdamWParamState&>(*found->second);
    state.emplace_back("step." + name,
                       at::scalar_tensor(moments.step(), at::TensorOptions(at::kLong)));
    state.emplace_back("exp_avg." + name, moments.exp_avg());
    state.emplace_back("exp_avg_sq." + name, moments.exp_avg_sq());
  }
  return state;
}

void Optimizer::load_state(const NamedParameters& state) {
  std::map<std::string, at::Tensor> by_name(state.begin(), state.end());
  const auto take = [&by_name](const std::string& name, at::IntArrayRef shape) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw FormatError(fmt::format("[optimizer] the state has no '{}'", name));
    if (found->second.sizes() != shape)
      throw FormatError(fmt::format("[optimizer] '{}' has another shape", name));
    return found->second;
  };
  if (state.empty()) return;  // saved before the first step
  for (const auto& [name, tensor] : parameters_) {
    auto moments = std::make_unique<AdamWParamState>();
    moments->step(take("step." + name, {}).item<std::int64_t>());
    moments->exp_avg(take("exp_avg." + name, tensor.sizes())
                         .to(tensor.device(), tensor.scalar_type(), false, true));
    moments->exp_avg_sq(take("exp_avg_sq." + name, tensor.sizes())
                            .to(tensor.device(), tensor.scalar_type(), false, true));
    impl_->adamw->state()[tensor.unsafeGetTensorImpl()] = std::move(moments);
  }
}

}  // namespace foxhunt::train
