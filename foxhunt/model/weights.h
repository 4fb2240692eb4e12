#pragma once
// Weights out of a safetensors file as plain floats, whoever wrote it: this project, mamba_ssm or
// transformers. Torch-free; nn/tensor_io.h does the same for a module.

#include <map>
#include <string>
#include <vector>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/model/safetensors.h"

namespace foxhunt::model {

/// The values of an F32, F16 or BF16 tensor, exactly: a narrow value always fits a float.
/// Errors  FormatError naming the tensor: another dtype. F64 is refused, as it would be rounded.
std::vector<float> floats_of(const TensorView& view);

/// Every tensor of tensor_list() by its name there, row-major. The file may use any name that
/// canonical_tensor_name() knows and any dtype of floats_of(); where the head is tied it may hold
/// `lm_head.weight` too, if that equals the embedding bit for bit.
/// Errors  FormatError naming the file and listing every tensor that is missing, extra, there
///         twice, of another shape or dtype, or not finite; ConfigError of tensor_list().
std::map<std::string, std::vector<float>> read_weights(const SafetensorsFile& file,
                                                       const Mamba2Config& config,
                                                       const HeadConfig& head);

}  // namespace foxhunt::model
