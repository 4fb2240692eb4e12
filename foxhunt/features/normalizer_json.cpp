// A normaliser as text, as it travels in checkpoints.
#include <fmt/format.h>

#include <cmath>
#include <type_traits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"
#include "foxhunt/features/normalizer.h"

namespace foxhunt::features {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "foxhunt-normalizer-1";
constexpr const char* kRuleNames[] = {"iqr", "deviation", "constant"};  // as ScaleRule

[[noreturn]] void refuse(const std::string& what) { throw FormatError("[normalizer] " + what); }

template <class T>
T field(const Json& object, const char* name) {
  try {
    const Json& value = object.at(name);
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (const auto whole = whole_number(value)) return *whole;
      refuse(fmt::format("field '{}': {} is no whole number", name, value.dump()));
    } else {
      return value.get<T>();
    }
  } catch (const Json::exception& error) {
    refuse(fmt::format("field '{}': {}", name, error.what()));
  }
}

UnixNanos time_field(const Json& object, const char* name) {
  const auto text = field<std::string>(object, name);
  try {
    return parse_time(text);
  } catch (const ConfigError& error) {
    refuse(fmt::format("field '{}': {}", name, error.what()));
  }
}

ScaleRule rule_of(const std::string& name) {
  for (std::size_t i = 0; i < std::size(kRuleNames); ++i) {
    if (name == kRuleNames[i]) return static_cast<ScaleRule>(i);
  }
  refuse(fmt::format("scale rule '{}' is none of iqr, deviation, constant", name));
}

float finite_float(const Json& object, const char* name, const std::string& column) {
  const auto value = static_cast<float>(field<double>(object, name));
  if (!std::isfinite(value)) refuse(fmt::format("column '{}': {} is not finite", column, name));
  return value;
}

}  // namespace

std::string Normalizer::to_json() const {
  Json columns = Json::array();
  for (const ColumnScale& column : columns_) {
    // A float is exact as a double, and doubles are written in the shortest form that reads back to
    // the same bits.
    columns.push_back({{"name", column.name},
                       {"center", static_cast<double>(column.center)},
                       {"scale", static_cast<double>(column.scale)},
                       {"rule", kRuleNames[static_cast<std::size_t>(column.rule)]}});
  }
  Json json;
  json["format"] = kFormat;
  json["clip"] = clip_;
  json["schema_hash"] = schema_hash_;
  json["fitted_on"] = {
      {"first", to_string(range_.first)}, {"last", to_string(range_.last)}, {"rows", rows_}};
  json["columns"] = std::move(columns);
  return json.dump();
}

Normalizer Normalizer::from_json(const std::string& text) {
  if (const std::string problem = json_problem(text); !problem.empty())
    refuse("the text " + problem);
  const Json json = Json::parse(text);
  if (!json.is_object()) refuse("the text is not a JSON object");
  if (const auto format = field<std::string>(json, "format"); format != kFormat) {
    refuse(fmt::format("format '{}' is not '{}'", format, kFormat));
  }
  Normalizer result;
  result.clip_ = field<double>(json, "clip");
  if (!(result.clip_ > 0.0))
    refuse(fmt::format("clip = {}, but it must be positive", result.clip_));
  result.schema_hash_ = field<std::string>(json, "schema_hash");
  const auto fitted = field<Json>(json, "fitted_on");
  result.range_ = {time_field(fitted, "first"), time_field(fitted, "last")};
  result.rows_ = field<std::int64_t>(fitted, "rows");
  if (result.rows_ < 1 || result.range_.first > result.range_.last) {
    refuse(fmt::format("fitted on {} rows from {} to {}: that is no interval", result.rows_,
                       to_string(result.range_.first), to_string(result.range_.last)));
  }
  const auto columns = field<Json>(json, "columns");
  if (!columns.is_array()) refuse("field 'columns' is not an array");
  for (const Json& item : columns) {
    ColumnScale column{.name = field<std::string>(item, "name")};
    column.center = finite_float(item, "center", column.name);
    column.scale = finite_float(item, "scale", column.name);
    column.rule = rule_of(field<std::string>(item, "rule"));
    if (!(column.scale > 0.0F)) {
      refuse(fmt::format("column '{}': scale = {}, but it must be positive", column.name,
                         column.scale));
    }
    for (const ColumnScale& other : result.columns_) {
      if (other.name == column.name) refuse(fmt::format("column '{}' is there twice", column.name));
    }
    result.columns_.push_back(std::move(column));
  }
  return result;
}

}  // namespace foxhunt::features
