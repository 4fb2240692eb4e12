#include "foxhunt/train/optimizer.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::train {
namespace {

/// Every parameter begins on a boundary of this many elements: a cache line of floats.
constexpr std::int64_t kAlign = 16;
/// Gradients sent at once: long enough to use a link well, short enough to send while the backward
/// pass goes on.
constexpr std::int64_t kBucketBytes = std::int64_t{4} << 20;

}  // namespace

bool decays(const at::Tensor& parameter) { return parameter.dim() >= 2; }

Optimizer::Optimizer(NamedParameters parameters, const OptimizerConfig& config) : config_(config) {
  const at::NoGradGuard no_grad;
  places_.resize(parameters.size());
  std::int64_t used = 0;
  for (const bool decayed : {true, false}) {
    Place& segment = decayed ? decayed_ : kept_;
    segment.offset = used;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (decays(parameters[i].second) != decayed) continue;
      places_[i] = {used, parameters[i].second.numel()};
      used += (places_[i].count + kAlign - 1) / kAlign * kAlign;
    }
    segment.count = used - segment.offset;
  }
  const at::Tensor& first = parameters.at(0).second;
  on_cpu_ = first.device().is_cpu() && first.scalar_type() == at::kFloat;
  for (at::Tensor* flat : {&weight_, &gradient_, &m_, &v_}) {
    *flat = at::zeros({used}, first.options().requires_grad(false));
  }
  lanes_.push_back(std::move(parameters));
  for (std::size_t i = 0; i < places_.size(); ++i) {
    at::Tensor& parameter = lanes_[0][i].second;
    view_of(weight_, i).copy_(parameter);
    parameter.set_data(view_of(weight_, i));
  }
}

at::Tensor Optimizer::view_of(const at::Tensor& flat, std::size_t index) const {
  return flat.narrow(0, places_[index].offset, places_[index].count)
      .view(lanes_[0][index].second.sizes());
}

void Optimizer::add_lane(NamedParameters replica) {
  const NamedParameters& own = lanes_[0];
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (i >= replica.size() || replica[i].first != own[i].first ||
        replica[i].second.sizes() != own[i].second.sizes()) {
      throw ConfigError(
          fmt::format("[optimizer] a lane differs from the model at parameter '{}'", own[i].first));
    }
    replica[i].second.set_data(view_of(weight_, i));
  }
  lanes_.push_back(std::move(replica));
}

void Optimizer::share(ranks::Ranks& ranks, ranks::LaneRange own, std::int64_t total) {
  if (weight_.scalar_type() != at::kFloat)
    throw ConfigError("[optimizer] only float32 parameters can be shared among ranks");
  own_ = own;
  if (!on_cpu_) host_ = at::zeros({weight_.numel()}, at::TensorOptions(at::kFloat));
  // The last parameters get their gradients first.
  std::vector<std::int64_t> sizes;
  for (std::size_t i = places_.size(); i-- > 0;) sizes.push_back(places_[i].count);
  const auto parameter = [this](std::size_t index) { return places_.size() - 1 - index; };
  exchange_ = std::make_unique<ranks::GradientExchange>(
      ranks, total, std::move(sizes), kBucketBytes,
      [this, parameter](std::int64_t lane, std::size_t index) -> const float* {
        const std::size_t i = parameter(index);
        if (!on_cpu_) return host_.const_data_ptr<float>() + places_[i].offset;
        const auto mine = static_cast<std::size_t>(lane - own_.begin);
        const at::Tensor& grad = lanes_[mine][i].second.grad();
        if (!grad.defined()) return nullptr;
        if (!grad.is_contiguous()) lanes_[mine][i].second.mutable_grad() = grad.contiguous();
        return lanes_[mine][i].second.grad().const_data_ptr<float>();
      },
      [this, parameter](std::size_t index) {
        const at::Tensor& flat = on_cpu_ ? gradient_ : host_;
        return flat.mutable_data_ptr<float>() + places_[parameter(index)].offset;
      });
  if (!on_cpu_) return;
  std::vector<std::vector<at::Tensor>> lanes;
  for (const NamedParameters& lane : lanes_) {
    lanes.emplace_back();
    for (std::size_t i = places_.size(); i-- > 0;) lanes.back().push_back(lane[i].second);
  }
  hooks_ = std::make_unique<ReadyHooks>(*exchange_, std::move(lanes));
}

void Optimizer::exchange_gradients() {
  if (!on_cpu_) {
    gather_here();
    host_.copy_(gradient_);
  }
  std::vector<std::size_t> order;
  for (std::size_t i = places_.size(); i-- > 0;) order.push_back(i);
  squares_ = exchange_->finish(order);
  if (!on_cpu_) gradient_.copy_(host_);
}

void Optimizer::zero_grad(std::int64_t used) {
  gathered_ = false;
  used_ = used;
  if (exchange_) exchange_->start(used);
  if (hooks_) hooks_->start(std::clamp<std::int64_t>(used - own_.begin, 0, own_.size()));
  scale_ = 1.0;
  drop_gradients();
}

void Optimizer::drop_gradients() {
  for (NamedParameters& lane : lanes_) {
    for (auto& [name, tensor] : lane) tensor.mutable_grad() = at::Tensor();
  }
}

/// One pass a parameter over all its lanes, which also gives the squares.
bool Optimizer::gather_on_cpu() {
  const auto& table = kernels::default_kernels<float>();
  bool any = false;
  std::vector<at::Tensor> kept;
  std::vector<const float*> parts;
  const auto lanes = static_cast<std::int64_t>(lanes_.size());
  const std::int64_t used = used_ >= 0 ? std::min(used_, lanes) : lanes;
  squares_ = 0.0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    kept.clear();
    parts.clear();
    for (std::int64_t l = 0; l < used; ++l) {
      const at::Tensor& grad = lanes_[static_cast<std::size_t>(l)][i].second.grad();
      if (grad.defined()) kept.push_back(grad.contiguous());
      if (!grad.defined()) zeros_.resize(static_cast<std::size_t>(weight_.numel()));
      parts.push_back(grad.defined() ? kept.back().const_data_ptr<float>() : zeros_.data());
    }
    float* sum = gradient_.mutable_data_ptr<float>() + places_[i].offset;
    if (kept.empty()) {
      std::fill_n(sum, places_[i].count, 0.0F);
      continue;
    }
    any = true;
    squares_ += table.sum_parts(places_[i].count, static_cast<std::int64_t>(parts.size()),
                                parts.data(), sum);
  }
  return any;
}

bool Optimizer::gather() {
  gathered_ = true;
  if (exchange_) {
    exchange_gradients();
    return true;
  }
  return on_cpu_ ? gather_on_cpu() : gather_here();
}

bool Optimizer::gather_here() {
  bool any = false;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const at::Tensor sum = view_of(gradient_, i);
    sum.zero_();
    for (const NamedParameters& lane : lanes_) {
      if (!lane[i].second.grad().defined()) continue;
      sum.add_(lane[i].second.grad());
      any = true;
    }
  }
  return any;
}

at::Tensor Optimizer::grad_norm() {
  const at::NoGradGuard no_grad;
  if (!gather()) throw Error(ExitCode::kFailure, "[optimizer] no parameter has a gradient");
  if (on_cpu_) return at::scalar_tensor(std::sqrt(squares_), at::TensorOptions(at::kDouble));
  return gradient_.square().sum().sqrt();
}

void Optimizer::clip(const at::Tensor& norm) {
  const at::NoGradGuard no_grad;
  if (on_cpu_) {
    scale_ = std::min(1.0, config_.clip_norm / (norm.item<double>() + 1e-6));
    return;
  }
  gradient_.mul_((norm + 1e-6).reciprocal().mul(config_.clip_norm).clamp_max(1.0));
}

void Optimizer::step_segment(Place segment, double decay, double lr) {
  if (segment.count == 0) return;
  const double c1 = 1.0 - std::pow(config_.beta1, static_cast<double>(steps_));
  const double c2 = 1.0 - std::pow(config_.beta2, static_cast<double>(steps_));
  if (on_cpu_) {
    const auto at_offset = [&segment](const at::Tensor& flat) {
      return flat.mutable_data_ptr<float>() + segment.offset;
    };
    kernels::default_kernels<float>().adamw(
        {segment.count, at_offset(weight_), at_offset(m_), at_offset(v_), at_offset(gradient_),
         static_cast<float>(scale_), static_cast<float>(lr * decay), static_cast<float>(lr / c1),
         static_cast<float>(1.0 / std::sqrt(c2)), static_cast<float>(config_.beta1),
         static_cast<float>(config_.beta2), static_cast<float>(config_.eps)});
    return;
  }
  const auto piece = [&segment](const at::Tensor& flat) {
    return flat.narrow(0, segment.offset, segment.count);
  };
  const at::Tensor g = piece(gradient_);
  const at::Tensor m = piece(m_);
  const at::Tensor v = piece(v_);
  m.mul_(config_.beta1).add_(g, 1.0 - config_.beta1);
  v.mul_(config_.beta2).addcmul_(g, g, 1.0 - config_.beta2);
  piece(weight_)
      .mul_(1.0 - lr * decay)
      .addcdiv_(m, v.sqrt().div_(std::sqrt(c2)).add_(config_.eps), -lr / c1);
}

void Optimizer::step(double lr) {
  const at::NoGradGuard no_grad;
  if (!gathered_) gather();
  ++steps_;
  step_segment(decayed_, config_.weight_decay, lr);
  step_segment(kept_, 0.0, lr);
  gathered_ = false;
  scale_ = 1.0;
}

NamedParameters Optimizer::state() const {
  NamedParameters state;
  if (steps_ == 0) return state;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::string& name = lanes_[0][i].first;
    state.emplace_back("step." + name, at::scalar_tensor(steps_, at::TensorOptions(at::kLong)));
    state.emplace_back("exp_avg." + name, view_of(m_, i));
    state.emplace_back("exp_avg_sq." + name, view_of(v_, i));
  }
  return state;
}

void Optimizer::load_state(const NamedParameters& state) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> by_name(state.begin(), state.end());
  const auto take = [&by_name](const std::string& name, at::IntArrayRef shape) {
    const auto found = by_name.find(name);
    if (found == by_name.end())
      throw FormatError(fmt::format("[optimizer] the state has no '{}'", name));
    if (found->second.sizes() != shape)
      throw FormatError(fmt::format("[optimizer] '{}' has another shape", name));
    return found->second;
  };
  if (state.empty()) return;                      // saved before the first step
  for (const auto& [name, tensor] : lanes_[0]) {  // look at all before anything changes
    take("step." + name, {});
    take("exp_avg." + name, tensor.sizes());
    take("exp_avg_sq." + name, tensor.sizes());
  }
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const auto& [name, tensor] = lanes_[0][i];
    steps_ = take("step." + name, {}).item<std::int64_t>();
    view_of(m_, i).copy_(take("exp_avg." + name, tensor.sizes()));
    view_of(v_, i).copy_(take("exp_avg_sq." + name, tensor.sizes()));
  }
}

}  // namespace foxhunt::train
