#include "foxhunt/model/tensor_list.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace foxhunt::model {
namespace {

class ListBuilder {
 public:
  void weight(std::string name, std::vector<std::int64_t> shape) {
    list_.push_back({std::move(name), std::move(shape), /*decays=*/true});
  }
  void still(std::string name, std::vector<std::int64_t> shape) {
    list_.push_back({std::move(name), std::move(shape), /*decays=*/false});
  }
  std::vector<TensorInfo> take() { return std::move(list_); }

 private:
  std::vector<TensorInfo> list_;
};

void add_layer(ListBuilder& list, const Mamba2Config& c, std::int64_t index) {
  const std::string layer = fmt::format("backbone.layers.{}.", index);
  const std::string mixer = layer + "mixer.";
  list.still(layer + "norm.weight", {c.d_model});
  list.still(mixer + "dt_bias", {c.n_heads()});
  list.still(mixer + "A_log", {c.n_heads()});
  if (c.has_d) list.still(mixer + "D", {c.n_heads()});
  list.weight(mixer + "in_proj.weight", {c.in_proj_width(), c.d_model});
  if (c.proj_bias) list.still(mixer + "in_proj.bias", {c.in_proj_width()});
  list.weight(mixer + "conv1d.weight", {c.conv_channels(), 1, c.d_conv});
  if (c.conv_bias) list.still(mixer + "conv1d.bias", {c.conv_channels()});
  if (c.gate_norm != GateNorm::kNone) list.still(mixer + "norm.weight", {c.d_inner()});
  list.weight(mixer + "out_proj.weight", {c.d_model, c.d_inner()});
  if (c.proj_bias) list.still(mixer + "out_proj.bias", {c.d_model});
}

}  // namespace

std::int64_t TensorInfo::size() const {
  std::int64_t product = 1;
  for (const std::int64_t n : shape) product *= n;
  return product;
}

std::vector<TensorInfo> tensor_list(const Mamba2Config& config, const HeadConfig& head) {
  config.validate();
  head.validate();
  const bool tokens = head.kind == HeadKind::kTokens;
  ListBuilder list;
  if (tokens) {
    list.weight("backbone.embeddings.weight", {head.n_features, config.d_model});
  } else {
    list.weight("backbone.in_proj.weight", {config.d_model, head.n_features});
    list.still("backbone.in_proj.bias", {config.d_model});
  }
  for (std::int64_t i = 0; i < config.n_layer; ++i) add_layer(list, config, i);
  list.still("backbone.norm_f.weight", {config.d_model});
  if (tokens && !head.tied) list.weight("lm_head.weight", {head.n_features, config.d_model});
  if (!tokens) {
    list.weight("head.weight", {head.n_outputs(), config.d_model});
    list.still("head.bias", {head.n_outputs()});
  }
  return list.take();
}

std::int64_t parameter_count(const Mamba2Config& config, const HeadConfig& head) {
  std::int64_t count = 0;
  for (const TensorInfo& tensor : tensor_list(config, head)) count += tensor.size();
  return count;
}

std::string canonical_tensor_name(const std::string& name) {
  std::string_view rest = name;
  if (constexpr std::string_view kModule = "model."; rest.starts_with(kModule))
    rest.remove_prefix(kModule.size());
  const bool in_backbone = rest.starts_with("layers.") || rest.starts_with("embedding.") ||
                           rest.starts_with("embeddings.") || rest.starts_with("norm_f.");
  std::string whole = (in_backbone ? "backbone." : "") + std::string(rest);
  return whole == "backbone.embedding.weight" ? "backbone.embeddings.weight" : whole;
}

}  // namespace foxhunt::model
