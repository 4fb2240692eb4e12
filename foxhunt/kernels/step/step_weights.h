#pragma once
// The weights of a model as a step takes them.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace foxhunt::kernels {

/// Row-major float32, as trained; a null pointer: the model has none.
struct StepWeights {
  struct Layer {
    const float *norm;                 ///< [D]
    const float *in_proj, *in_bias;    ///< [projected, D], [projected]
    const float *conv, *conv_bias;     ///< [channels, W], [channels]
    const float *dt_bias, *A_log, *D;  ///< [H]
    const float *gate_norm;            ///< [H P]
    const float *out_proj, *out_bias;  ///< [D, H P], [D]
  };
  const float *input, *input_bias;  ///< [D, F], [D]
  std::vector<Layer> layers;
  const float *norm_f;            ///< [D]
  const float *head, *head_bias;  ///< [K, D], [K]
};

/// Asks for every weight by the name that mamba_ssm and transformers give it ("head" and
/// "backbone.in_proj" are ours); null where the model has none.
StepWeights step_weights(std::int64_t n_layer,
                         const std::function<const float *(const std::string &)> &weight);

}  // namespace foxhunt::kernels
