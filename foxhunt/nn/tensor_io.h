#pragma once
// Tensors to and from safetensors: weights with strict names, and whatever else a checkpoint holds.

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/model/safetensors.h"
#include "foxhunt/nn/mamba2.h"

namespace foxhunt::nn {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// A copy on `device`, in the file's dtype. Errors  FormatError: a dtype LibTorch has no name for.
at::Tensor tensor_of(const model::TensorView& view, at::Device device);

/// Writes the tensors in the given order, atomically and synced; any device, copied to the host
/// where needed. Errors  IoError; FormatError naming a tensor without bytes (meta) or of a dtype
/// safetensors lacks.
void save_tensors(const std::filesystem::path& path, const NamedTensors& tensors,
                  const std::map<std::string, std::string>& metadata);

/// Copies the file's weights into the model. Names as in model/tensor_list.h; mamba_ssm's
/// `backbone.embedding.weight` and a tied `lm_head.weight` that equals the embedding are
/// understood. A narrower dtype is widened, never the other way round. Errors  FormatError listing
/// every missing, extra, misshapen or wrongly typed tensor; the model is then unchanged.
void load_weights(Mamba2SSM& model, const model::SafetensorsFile& file);

/// The weights under their names, with config and head in the metadata (model/model_meta.h) beside
/// `metadata`.
void save_weights(const Mamba2SSM& model, const std::filesystem::path& path,
                  const std::map<std::string, std::string>& metadata = {});

/// A model as save_weights() wrote it, on `device`. Errors  FormatError, ConfigError, IoError.
std::shared_ptr<Mamba2SSM> load_model(const std::filesystem::path& path, at::Device device,
                                      at::ScalarType dtype = at::ScalarType::Float);

/// SHA-256 over names, dtypes, shapes and bytes in the order of tensor_list.
std::string weights_hash(const Mamba2SSM& model);

}  // namespace foxhunt::nn
