#include "foxhunt/model/model_meta.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVersion = "1";

Json number_json(double value) {  // JSON has no infinity
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

struct ToJson {
  Json operator()(const bool* v) const { return *v; }
  Json operator()(const std::int64_t* v) const { return *v; }
  Json operator()(const double* v) const { return number_json(*v); }
  Json operator()(const std::string* v) const { return *v; }
  Json operator()(const std::vector<double>* v) const {
    Json list = Json::array();
    for (const double x : *v) list.push_back(number_json(x));
    return list;
  }
  template <class T>
  Json operator()(const std::vector<T>* v) const {
    return Json(*v);
  }
  Json operator()(const config::Choice& choice) const { return choice.names.at(choice.get()); }
};

/// Puts a JSON value into a field; false when its type does not fit.
struct FromJson {
  const Json& json;

  bool operator()(bool* place) const {
    return json.is_boolean() && (*place = json.get<bool>(), true);
  }
  bool operator()(std::int64_t* place) const {
    const auto value = whole_number(json);
    if (value) *place = *value;
    return value.has_value();
  }
  bool operator()(double* place) const {
    const double inf = std::numeric_limits<double>::infinity();
    if (json == "inf" || json == "-inf") {
      *place = json == "inf" ? inf : -inf;
      return true;
    }
    return json.is_number() && (*place = json.get<double>(), true);
  }
  bool operator()(std::string* place) const {
    return json.is_string() && (*place = json.get<std::string>(), true);
  }
  template <class T>
  bool operator()(std::vector<T>* place) const {
    if (!json.is_array()) return false;
    std::vector<T> items(json.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (!FromJson{json[i]}(&items[i])) return false;
    }
    *place = std::move(items);
    return true;
  }
  bool operator()(const config::Choice& choice) const {
    if (!json.is_string()) return false;
    const auto found = std::find(choice.names.begin(), choice.names.end(), json.get<std::string>());
    if (found == choice.names.end()) return false;
    choice.set(static_cast<std::size_t>(found - choice.names.begin()));
    return true;
  }
};

template <class Struct>
std::string struct_to_json(Struct value) {
  return fields_to_json(config::fields_of(value));
}

const std::string& entry(const std::map<std::string, std::string>& metadata, const std::string& key,
                         const std::string& origin) {
  const auto found = metadata.find(key);
  if (found == metadata.end())
    throw FormatError(fmt::format("{}: its metadata has no '{}'", origin, key));
  return found->second;
}

}  // namespace

std::string fields_to_json(const config::FieldList& list) {
  Json object = Json::object();
  for (const config::Field& field : list.fields)
    object[field.path] = std::visit(ToJson{}, field.target);
  return object.dump();
}

void json_to_fields(config::FieldList& list, const std::string& text, const std::string& origin) {
  if (const std::string problem = json_problem(text); !problem.empty())
    throw FormatError(fmt::format("{}: {}", origin, problem));
  const Json object = Json::parse(text);
  if (!object.is_object()) throw FormatError(fmt::format("{}: is not a JSON object", origin));
  std::vector<std::string> problems;
  for (config::Field& field : list.fields) {
    if (!object.contains(field.path)) {
      problems.push_back(fmt::format("'{}' is missing", field.path));
    } else if (!std::visit(FromJson{object[field.path]}, field.target)) {
      problems.push_back(fmt::format("'{}' has the value {}, which does not fit", field.path,
                                     object[field.path].dump()));
    }
  }
  for (const auto& item : object.items()) {
    const auto named = [&](const config::Field& field) { return field.path == item.key(); };
    if (std::none_of(list.fields.begin(), list.fields.end(), named)) {
      problems.push_back(fmt::format("'{}' is unknown", item.key()));
    }
  }
  if (!problems.empty())
    throw FormatError(fmt::format("{}: {}", origin, fmt::join(problems, "; ")));
}

std::map<std::string, std::string> model_metadata(const Mamba2Config& config,
                                                  const HeadConfig& head) {
  return {{"format", "pt"},
          {"foxhunt.model", "mamba2"},
          {"foxhunt.model_version", kVersion},
          {"foxhunt.mamba2", struct_to_json(config)},
          {"foxhunt.head", struct_to_json(head)}};
}

ModelMeta read_model_metadata(const std::map<std::string, std::string>& metadata,
                              const std::string& origin) {
  if (const std::string& kind = entry(metadata, "foxhunt.model", origin); kind != "mamba2") {
    throw FormatError(
        fmt::format("{}: holds a '{}' model, but only 'mamba2' is known", origin, kind));
  }
  if (const std::string& version = entry(metadata, "foxhunt.model_version", origin);
      version != kVersion) {
    throw FormatError(fmt::format("{}: has model version '{}', but this program reads '{}'", origin,
                                  version, kVersion));
  }
  ModelMeta meta;
  config::FieldList config_fields = config::fields_of(meta.config);
  json_to_fields(config_fields, entry(metadata, "foxhunt.mamba2", origin),
                 origin + ": foxhunt.mamba2");
  config::FieldList head_fields = config::fields_of(meta.head);
  json_to_fields(head_fields, entry(metadata, "foxhunt.head", origin), origin + ": foxhunt.head");
  meta.config.validate();
  meta.head.validate();
  return meta;
}

}  // namespace foxhunt::model
