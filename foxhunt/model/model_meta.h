#pragma once
// Config and head as JSON text in a file's metadata, so that weights carry what is needed to
// rebuild their model.
//
//   "format": "pt"                       so that Python's safetensors loads the file
//   "foxhunt.model": "mamba2"            which architecture
//   "foxhunt.model_version": "1"         of this layout
//   "foxhunt.mamba2": {"d_model": 64, …} every field of Mamba2Config, "inf" as a string
//   "foxhunt.head": {"kind": …}

#include <map>
#include <string>

#include "foxhunt/config/describe.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::model {

/// Every field of the list as one JSON object; json_to_fields reads it back to the same values, bit
/// for bit.
std::string fields_to_json(const config::FieldList& list);
/// Errors  FormatError naming `origin` and every key that is missing, unknown or of the wrong type.
void json_to_fields(config::FieldList& list, const std::string& text, const std::string& origin);

std::map<std::string, std::string> model_metadata(const Mamba2Config& config,
                                                  const HeadConfig& head);

struct ModelMeta {
  Mamba2Config config;
  HeadConfig head;
};
/// Errors  FormatError naming `origin`: an entry is missing or does not parse, another
/// architecture, a newer version.
///         ConfigError: values that break a rule.
ModelMeta read_model_metadata(const std::map<std::string, std::string>& metadata,
                              const std::string& origin);

}  // namespace foxhunt::model
