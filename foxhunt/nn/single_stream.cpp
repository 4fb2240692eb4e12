#include "foxhunt/nn/single_stream.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <map>
#include <string>

#include "foxhunt/nn/mamba2.h"

namespace foxhunt::nn {
namespace {

std::unique_ptr<const kernels::StepNetwork> network_of(const Mamba2SSM& model) {
  const kernels::MixerShape mixer = mixer_shape(model.config());
  const kernels::StepShape shape{.d_model = model.config().d_model,
                                 .heads = mixer.ssd.heads,
                                 .headdim = mixer.ssd.headdim,
                                 .groups = mixer.ssd.groups,
                                 .d_state = mixer.ssd.d_state,
                                 .conv_width = mixer.width,
                                 .gate = mixer.gate,
                                 .eps = static_cast<float>(mixer.eps),
                                 .dt_low = static_cast<float>(mixer.dt_low),
                                 .dt_high = static_cast<float>(mixer.dt_high)};
  std::map<std::string, at::Tensor> tensors;
  for (const auto& parameter : model.named_parameters()) {
    tensors.emplace(parameter.key(), parameter.value().detach().contiguous());
  }
  const auto weight = [&tensors](const std::string& name) -> const float* {
    const auto found = tensors.find(name);
    return found == tensors.end() ? nullptr : found->second.const_data_ptr<float>();
  };
  const kernels::StepKernels& table = kernels::pick_step_kernels();
  return std::make_unique<kernels::StepNetwork>(
      shape, model.head_config().n_features, model.head_config().n_outputs(),
      kernels::step_weights(model.config().n_layer, weight), table, table.product);
}

}  // namespace

bool SingleStream::fits(const Mamba2SSM& model) {
  return model.kernels() == Kernels::kNative && model.device().is_cpu() &&
         model.dtype() == at::ScalarType::Float &&
         model.head_config().kind != model::HeadKind::kTokens;
}

SingleStream::SingleStream(const Mamba2SSM& model)
    : network_(network_of(model)), stream_(*network_) {}

std::span<const float> SingleStream::step(std::span<const float> row) {
  std::ranges::copy(row, stream_.features().begin());
  return stream_.step();
}

}  // namespace foxhunt::nn
