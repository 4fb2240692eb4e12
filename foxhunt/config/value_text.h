#pragma once
// One value of a field as TOML text, and its type and range in words. Shared by dump, help and
// schema.

#include <string>

#include "foxhunt/config/describe.h"

namespace foxhunt::config {

/// 0.5, "text", [1, 2]: reads back to the same value.
std::string value_text(const Field& field);
/// A string as TOML: what is not printed is escaped. Bytes that are not UTF-8 stay as they are, and
/// no TOML parser takes them.
std::string quoted_text(const std::string& text);
/// "integer", "number", "boolean", "string", "list of integers", "one of a|b".
std::string type_text(const Field& field);
/// "[1, 256]", or "" where every value is legal.
std::string range_text(const Field& field);
/// A number without trailing noise: 1, 0.001, inf.
std::string number_text(double value);

}  // namespace foxhunt::config
