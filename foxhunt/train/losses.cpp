#include "foxhunt/train/losses.h"

#include <ATen/ATen.h>
#include <fmt/format.h>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

at::Tensor pinball(const at::Tensor& outputs, const at::Tensor& values,
                   const std::vector<double>& quantiles) {
  at::Tensor sum;
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    const at::Tensor error = values - outputs.select(-1, static_cast<std::int64_t>(i));
    const at::Tensor loss = at::maximum(error * quantiles[i], error * (quantiles[i] - 1.0));
    sum = sum.defined() ? sum + loss : loss;
  }
  return sum / static_cast<double>(quantiles.size());
}

}  // namespace

at::Tensor loss_sum(const at::Tensor& outputs, const Targets& targets,
                    const model::HeadConfig& head) {
  if (outputs.dim() != 3 || outputs.size(2) != head.n_outputs()) {
    throw ShapeError(fmt::format("[losses] outputs have {} values a row, the head {}",
                                 outputs.size(-1), head.n_outputs()));
  }
  const at::Tensor wide = outputs.scalar_type() == at::kDouble ? outputs : outputs.to(at::kFloat);
  at::Tensor loss;
  switch (head.kind) {
    case model::HeadKind::kClassification:
    case model::HeadKind::kTokens: {
      const at::Tensor index = targets.classes.clamp_min(0).unsqueeze(-1);
      loss = at::log_softmax(wide, -1).gather(-1, index).squeeze(-1).neg();
      break;
    }
    case model::HeadKind::kRegression:
      loss = (wide.squeeze(-1) - targets.values).square() * 0.5;
      break;
    case model::HeadKind::kQuantiles:
      loss = pinball(wide, targets.values, head.quantiles);
      break;
  }
  return (loss * targets.weights).sum();
}

}  // namespace foxhunt::train
