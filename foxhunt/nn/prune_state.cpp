#include "foxhunt/nn/prune_state.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/index_select.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using Columns = std::vector<std::vector<std::int64_t>>;  // of one layer, by group

void check(const model::Mamba2Config& config, const ColumnChoice& choice) {
  const auto fail = [](const std::string& what) {
    throw ShapeError(fmt::format("[prune_state] {}", what));
  };
  if (static_cast<std::int64_t>(choice.size()) != config.n_layer)
    fail(fmt::format("columns of {} layers for a model of {}", choice.size(), config.n_layer));
  for (std::size_t i = 0; i < choice.size(); ++i) {
    if (static_cast<std::int64_t>(choice[i].size()) != config.ngroups)
      fail(fmt::format("layer {}: {} groups, not {}", i, choice[i].size(), config.ngroups));
    for (const auto& columns : choice[i]) {
      if (columns.empty() || columns.size() != choice[0][0].size())
        fail(fmt::format("layer {}: {} columns in one group and {} in another", i, columns.size(),
                         choice[0][0].size()));
      if (columns.front() < 0 || columns.back() >= config.d_state ||
          std::adjacent_find(columns.begin(), columns.end(), std::greater_equal<>()) !=
              columns.end())
        fail(fmt::format("layer {}: columns must rise within [0, {}]", i, config.d_state - 1));
    }
  }
}

/// Channels of the convolution [x | B | C] that stay.
std::vector<std::int64_t> channels_of(const model::Mamba2Config& config, const Columns& columns) {
  std::vector<std::int64_t> kept(static_cast<std::size_t>(config.d_inner()));
  std::iota(kept.begin(), kept.end(), 0);
  for (const std::int64_t part : {0, 1}) {  // B, C
    for (std::int64_t g = 0; g < config.ngroups; ++g) {
      const std::int64_t first = config.d_inner() + (part * config.ngroups + g) * config.d_state;
      for (const std::int64_t n : columns[static_cast<std::size_t>(g)]) kept.push_back(first + n);
    }
  }
  return kept;
}

/// Rows of in_proj [z | x B C | dt] that stay.
std::vector<std::int64_t> rows_of(const model::Mamba2Config& config,
                                  const std::vector<std::int64_t>& channels) {
  std::vector<std::int64_t> kept(static_cast<std::size_t>(config.d_inner()));
  std::iota(kept.begin(), kept.end(), 0);
  for (const std::int64_t channel : channels) kept.push_back(config.d_inner() + channel);
  for (std::int64_t h = 0; h < config.n_heads(); ++h)
    kept.push_back(config.d_inner() + config.conv_channels() + h);
  return kept;
}

void copy_rows(const Tensor& to, const Tensor& from, const std::vector<std::int64_t>& rows) {
  if (!from.defined()) return;
  to.copy_(at::index_select(from, 0, at::tensor(rows).to(from.device())));
}

}  // namespace

std::shared_ptr<Mamba2SSM> prune_state(const Mamba2SSM& model, const ColumnChoice& choice) {
  check(model.config(), choice);
  model::Mamba2Config config = model.config();
  config.d_state = static_cast<std::int64_t>(choice[0][0].size());
  auto pruned =
      std::make_shared<Mamba2SSM>(config, model.head_config(), model.device(), model.dtype());
  const at::NoGradGuard no_grad;
  const auto from = model.named_parameters();
  for (auto& item : pruned->named_parameters()) {
    const std::string& name = item.key();
    const bool in_proj = name.find(".mixer.in_proj.") != std::string::npos;
    if (!in_proj && name.find(".mixer.conv1d.") == std::string::npos) {
      item.value().copy_(from[name]);
      continue;
    }
    constexpr std::string_view kLayers = "backbone.layers.";
    const auto layer = static_cast<std::size_t>(std::stoll(name.substr(kLayers.size())));
    const std::vector<std::int64_t> channels = channels_of(model.config(), choice[layer]);
    copy_rows(item.value(), from[name], in_proj ? rows_of(model.config(), channels) : channels);
  }
  return pruned;
}

std::shared_ptr<Mamba2SSM> prune_state(const Mamba2SSM& model, std::int64_t d_state,
                                       const StateUsage& usage) {
  return prune_state(model, most_important(usage, d_state));
}

}  // namespace foxhunt::nn
