#include "foxhunt/kernels/step/step_weights.h"

namespace foxhunt::kernels {

StepWeights step_weights(std::int64_t n_layer,
                         const std::function<const float*(const std::string&)>& weight) {
  StepWeights all{};
  all.input = weight("backbone.in_proj.weight");
  all.input_bias = weight("backbone.in_proj.bias");
  for (std::int64_t i = 0; i < n_layer; ++i) {
    const std::string prefix = "backbone.layers." + std::to_string(i) + ".";
    const auto at = [&](const char* name) { return weight(prefix + name); };
    all.layers.push_back({.norm = at("norm.weight"),
                          .in_proj = at("mixer.in_proj.weight"),
                          .in_bias = at("mixer.in_proj.bias"),
                          .conv = at("mixer.conv1d.weight"),
                          .conv_bias = at("mixer.conv1d.bias"),
                          .dt_bias = at("mixer.dt_bias"),
                          .A_log = at("mixer.A_log"),
                          .D = at("mixer.D"),
                          .gate_norm = at("mixer.norm.weight"),
                          .out_proj = at("mixer.out_proj.weight"),
                          .out_bias = at("mixer.out_proj.bias")});
  }
  all.norm_f = weight("backbone.norm_f.weight");
  all.head = weight("head.weight");
  all.head_bias = weight("head.bias");
  return all;
}

}  // namespace foxhunt::kernels
