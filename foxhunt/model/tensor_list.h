#pragma once
// Names and shapes of a model's parameters, in order: the contract between the trainer, the file
// and whoever serves.
//
//   backbone.in_proj.{weight,bias}                    Linear(F -> D); backbone.embeddings.weight
//   [V, D] in token models backbone.layers.{i}.norm.weight                   in front of the layer
//   backbone.layers.{i}.mixer.{dt_bias, A_log, D, in_proj.weight, conv1d.weight, conv1d.bias,
//   norm.weight,
//                              out_proj.weight}       and the projections' biases with proj_bias
//   backbone.norm_f.weight
//   head.{weight,bias}                                Linear(D -> K); lm_head.weight [V, D] in
//   token models, absent
//                                                     when tied
//
// The names below backbone.layers are those of state-spaces/mamba and of transformers.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::model {

struct TensorInfo {
  std::string name;
  std::vector<std::int64_t> shape;
  bool decays = true;  ///< under weight decay: not so A_log, dt_bias, D, the norms and the biases

  std::int64_t size() const;
  friend bool operator==(const TensorInfo&, const TensorInfo&) = default;
};

/// Errors  ConfigError with everything that is wrong in either.
std::vector<TensorInfo> tensor_list(const Mamba2Config& config, const HeadConfig& head);

std::int64_t parameter_count(const Mamba2Config& config, const HeadConfig& head);

/// What a checkpoint of another system calls `name` is called here: `backbone.embedding.weight`
/// (mamba_ssm) becomes `backbone.embeddings.weight`, a leading `model.` (a module around the model,
/// as in Mistral's files) falls, and `layers.`, `embeddings.`, `norm_f.` without `backbone.` in
/// front (transformers' Mamba2Model saved by itself) get it. Any other name stays.
std::string canonical_tensor_name(const std::string& name);

}  // namespace foxhunt::model
