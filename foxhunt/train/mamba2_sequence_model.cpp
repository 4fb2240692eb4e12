#include "foxhunt/train/mamba2_sequence_model.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

#include "foxhunt/train/training_step.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kPiece = 1024;  // rows that answer() holds at once

}  // namespace

Mamba2SequenceModel::Mamba2SequenceModel(nn::Mamba2SSM& model, double a_min, double a_max)
    : model_(model), log_a_min_(std::log(a_min)), log_a_max_(std::log(a_max)) {}

Mamba2SequenceModel::Mamba2SequenceModel(std::shared_ptr<nn::Mamba2SSM> model, double log_a_min,
                                         double log_a_max)
    : own_(std::move(model)), model_(*own_), log_a_min_(log_a_min), log_a_max_(log_a_max) {}

std::unique_ptr<SequenceModel> Mamba2SequenceModel::replica() {
  if (model_.kernels() != nn::Kernels::kNative || !model_.device().is_cpu()) return nullptr;
  auto copy = std::make_shared<nn::Mamba2SSM>(model_.config(), model_.head_config(),
                                              model_.device(), model_.dtype());
  copy->recompute_blocks(model_.recomputes_blocks());
  return std::unique_ptr<SequenceModel>(
      new Mamba2SequenceModel(std::move(copy), log_a_min_, log_a_max_));
}

NamedParameters Mamba2SequenceModel::parameters() {
  NamedParameters out;
  for (const auto& item : model_.named_parameters()) out.emplace_back(item.key(), item.value());
  return out;
}

at::Tensor Mamba2SequenceModel::answer(const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  nn::Mamba2State state = model_.zero_state(x.size(0));
  std::vector<at::Tensor> pieces;
  for (std::int64_t from = 0; from < x.size(1); from += kPiece) {
    pieces.push_back(model_.forward(x.narrow(1, from, std::min(kPiece, x.size(1) - from)), state));
  }
  return pieces.size() == 1 ? pieces.front() : at::cat(pieces, 1);
}

void Mamba2SequenceModel::after_step() {
  const at::NoGradGuard no_grad;
  for (std::int64_t i = 0; i < model_.config().n_layer; ++i)
    model_.layer(i).A_log.clamp_(log_a_min_, log_a_max_);
}

Health examine(nn::Mamba2SSM& model, const at::Tensor& x) {
  const at::NoGradGuard no_grad;
  nn::Mamba2State state = model.zero_state(x.size(0));
  nn::ModelTrace trace;
  model.forward(x, state, {}, &trace);
  if (model.device().is_meta()) return {};  // what it takes is there, numbers are not
  const double lo = model.config().dt_limit_min;
  const double hi = model.config().dt_limit_max;
  std::vector<at::Tensor> limits, states, decays_min, decays_max, squares;
  for (std::int64_t i = 0; i < model.config().n_layer; ++i) {
    const auto index = static_cast<std::size_t>(i);
    const at::Tensor& dt = trace.layers[index].dt;
    limits.push_back(dt.le(lo).logical_or(dt.ge(hi)).to(at::kFloat).mean());
    states.push_back(state.layers[index].ssm.abs().max().to(at::kFloat));
    const at::Tensor a = model.layer(i).A_log.exp().to(at::kFloat);
    decays_min.push_back(a.min());
    decays_max.push_back(a.max());
  }
  for (const at::Tensor& parameter : model.parameters())
    squares.push_back(parameter.square().sum().to(at::kFloat));
  const std::vector<double> host = read_scalars(
      at::stack({at::stack(limits).mean(), at::stack(states).max(), at::stack(squares).sum().sqrt(),
                 at::stack(decays_min).min(), at::stack(decays_max).max()}));
  return {host[0], host[1], host[2], host[3], host[4]};
}

}  // namespace foxhunt::train
