#pragma once
// The config.json of other systems' Mamba-2 checkpoints: transformers (model_type mamba2) and
// mamba_ssm (ssm_cfg).

#include <filesystem>
#include <string>
#include <string_view>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::model {

struct ImportedConfig {
  Mamba2Config config;
  HeadConfig head;  ///< kTokens
};

/// Reads either form. Infinite limits may be written Infinity (which is not JSON), {"__float__":
/// "Infinity"} or "Infinity". Errors  FormatError naming `origin` and every key that is missing or
/// of the wrong type.
///         ConfigError naming every variant that foxhunt does not compute: an MLP in the block,
///         d_ssm below the inner width, D per channel, attention layers, another activation,
///         LayerNorm, learnable initial states.
ImportedConfig parse_hf_config(std::string_view text, const std::string& origin);
ImportedConfig read_hf_config(const std::filesystem::path& path);

}  // namespace foxhunt::model
