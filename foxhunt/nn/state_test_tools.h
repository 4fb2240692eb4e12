#pragma once
// Models whose state columns are told apart by hand. Tests only.

#include <cmath>
#include <memory>
#include <string>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {

/// Two layers, two groups, eight columns; steps from 0.01 to 1, every weight random.
inline std::shared_ptr<Mamba2SSM> random_model(model::HeadKind kind, std::uint64_t seed,
                                               std::int64_t d_state = 8) {
  model::Mamba2Config config = small_model();
  config.d_state = d_state;
  auto model = std::make_shared<Mamba2SSM>(config, head_of(kind), at::kCPU, at::kDouble);
  model->initialise(seed);
  Rng rng(seed);
  const at::NoGradGuard no_grad;
  for (auto& item : model->named_parameters()) {
    if (item.key().ends_with("dt_bias"))
      item.value().copy_(random_tensor(rng, item.value().sizes()) * 2 - 2);
    if (item.key().ends_with(".D") || item.key().ends_with("norm.weight"))
      item.value().copy_(random_tensor(rng, item.value().sizes()) * 0.5 + 1);
  }
  return model;
}

/// Multiplies what a layer's convolution gives to C_n of a group; 0 takes the column out for real.
/// Not exactly linear otherwise: SiLU follows.
inline void scale_column(Mamba2SSM& model, std::int64_t layer, std::int64_t group, std::int64_t n,
                         double factor) {
  const at::NoGradGuard no_grad;
  const model::Mamba2Config& c = model.config();
  const std::int64_t channel = c.d_inner() + (c.ngroups + group) * c.d_state + n;
  model.layer(layer).conv1d->weight.select(0, channel).mul_(factor);
  model.layer(layer).conv1d->bias.select(0, channel).mul_(factor);
}

inline std::shared_ptr<Mamba2SSM> copy_of(const Mamba2SSM& model) {
  auto copy = std::make_shared<Mamba2SSM>(model.config(), model.head_config(), model.device(),
                                          model.dtype());
  const at::NoGradGuard no_grad;
  const auto from = model.named_parameters();
  for (auto& item : copy->named_parameters()) item.value().copy_(from[item.key()]);
  return copy;
}

}  // namespace foxhunt::nn
