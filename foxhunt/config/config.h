#pragma once
// What one can do with the field list of a config struct: load, change, dump, hash, explain.
//
// Messages have the form
//     configs/es.toml:12: model: unknown key 'd_mdoel'; nearest valid name: 'd_model'
//     --set model.d_state=0: model.d_state = 0 is outside [1, 256]

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/config/describe.h"

namespace foxhunt::config {

/// Reads a TOML file into the listed fields; keys that the file does not name keep their values.
/// Errors  ConfigError with file and line: syntax, unknown key, wrong type, value outside its
/// range. All of the
///         file's errors are listed at once.
void load_toml_file(FieldList& list, const std::filesystem::path& path);
/// The same from text; `origin` stands for the file's name in messages.
void load_toml_text(FieldList& list, std::string_view text, const std::string& origin);

/// Applies "a.b=c" (c in TOML syntax; a bare word is a string). Errors  ConfigError naming the
/// assignment.
void apply_override(FieldList& list, const std::string& assignment);

/// Every value against its range; all that are outside, one a line. Empty: all well.
std::vector<std::string> range_errors(const FieldList& list);

/// The resolved config as TOML, every key with its help as a comment when `comments`. Without them
/// an empty list of FieldCollector::later() is left out.
/// load_toml_text reads it back to the same values, bit for bit.
std::string dump_toml(const FieldList& list, bool comments);

/// SHA-256 over the dump without comments: changes exactly when a value does.
std::string hash(const FieldList& list);

/// Lines "key  type  default  range  help" for --help.
std::string help_text(const FieldList& list);
/// The same as a Markdown table a section.
std::string help_markdown(const FieldList& list);
/// JSON Schema (draft 2020-12).
std::string json_schema(const FieldList& list, const std::string& title);

/// Convenience over fields_of().
template <class Struct>
void load(Struct& config, const std::filesystem::path& path) {
  FieldList list = fields_of(config);
  load_toml_file(list, path);
}
template <class Struct>
std::string dump(Struct config, bool comments = false) {
  return dump_toml(fields_of(config), comments);
}
template <class Struct>
std::string hash_of(Struct config) {
  return hash(fields_of(config));
}
/// Errors  ConfigError with all values that are outside their range.
void require_in_range(const FieldList& list, const std::string& who);

}  // namespace foxhunt::config
