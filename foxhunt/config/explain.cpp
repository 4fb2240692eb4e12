// What a field list says about itself: dump, hash, help, schema.
#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/config/config.h"
#include "foxhunt/config/value_text.h"

namespace foxhunt::config {
namespace {

std::string section_of(const Field& field) {
  const std::size_t dot = field.path.rfind('.');
  return dot == std::string::npos ? "" : field.path.substr(0, dot);
}
std::string name_of(const Field& field) { return field.path.substr(field.path.rfind('.') + 1); }

bool is_empty_list(const Field& field) {
  const auto* list = std::get_if<std::vector<std::string>*>(&field.target);
  return list != nullptr && (*list)->empty();
}

std::string section_help(const FieldList& list, const std::string& path) {
  for (const Section& section : list.sections) {
    if (section.path == path) return section.help;
  }
  return "";
}

/// Calls first(section path) where a new section begins, then each(field). Top-level keys come
/// first.
template <class First, class Each>
void walk(const FieldList& list, First first, Each each) {
  std::vector<std::string> order{""};
  for (const Section& section : list.sections) order.push_back(section.path);
  for (const std::string& path : order) {
    bool begun = false;
    for (const Field& field : list.fields) {
      if (section_of(field) != path) continue;
      if (!begun) first(path);
      begun = true;
      each(field);
    }
  }
}

nlohmann::ordered_json schema_of(const Field& field) {
  using Json = nlohmann::ordered_json;
  Json schema;
  const auto limits = [&field](Json& of) {
    if (!std::isinf(field.min)) of["minimum"] = field.min;
    if (!std::isinf(field.max)) of["maximum"] = field.max;
  };
  const std::string type = type_text(field);
  if (const auto* choice = std::get_if<Choice>(&field.target)) {
    schema["enum"] = choice->names;
  } else if (type.rfind("list of ", 0) == 0) {
    schema["type"] = "array";
    schema["items"]["type"] = type.substr(8, type.size() - 9);
    limits(schema["items"]);
  } else {
    schema["type"] = type;
    limits(schema);
  }
  schema["description"] = field.help;
  const std::string value = value_text(field);
  const Json parsed = Json::parse(value, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_discarded()) schema["default"] = parsed;  // inf is not JSON
  return schema;
}

}  // namespace

std::string dump_toml(const FieldList& list, bool comments) {
  std::string out;
  walk(
      list,
      [&](const std::string& path) {
        if (path.empty()) return;
        if (!out.empty()) out += "\n";
        if (comments) out += fmt::format("# {}\n", section_help(list, path));
        out += fmt::format("[{}]\n", path);
      },
      [&](const Field& field) {
        if (!comments && field.only_where_used && is_empty_list(field)) return;
        std::string line = fmt::format("{} = {}", name_of(field), value_text(field));
        if (comments) {
          const std::string range = range_text(field);
          line += fmt::format("{:{}}# {}{}{}", "", line.size() < 34 ? 34 - line.size() : 1,
                              field.help, range.empty() ? "" : ", ", range);
        }
        out += line + "\n";
      });
  return out;
}

std::string hash(const FieldList& list) { return sha256_of(dump_toml(list, /*comments=*/false)); }

std::string help_text(const FieldList& list) {
  std::string out;
  walk(
      list,
      [&](const std::string& path) {
        if (!path.empty()) out += fmt::format("\n[{}]  {}\n", path, section_help(list, path));
      },
      [&](const Field& field) {
        out += fmt::format(
            "  {:<28} {:<22} {:<16} {}{}\n", name_of(field), value_text(field), range_text(field),
            field.help,
            std::holds_alternative<Choice>(field.target) ? " (" + type_text(field) + ")" : "");
      });
  return out;
}

std::string help_markdown(const FieldList& list) {
  std::string out;
  walk(
      list,
      [&](const std::string& path) {
        out += fmt::format(
            "\n## {}\n\n{}\n\n| key | type | default | range | meaning |\n|---|---|---|---|---|\n",
            path.empty() ? "top level" : "[" + path + "]", section_help(list, path));
      },
      [&](const Field& field) {
        out += fmt::format("| `{}` | {} | `{}` | {} | {} |\n", name_of(field), type_text(field),
                           value_text(field), range_text(field), field.help);
      });
  return out;
}

std::string json_schema(const FieldList& list, const std::string& title) {
  nlohmann::ordered_json root;
  root["$schema"] = "https://json-schema.org/draft/2020-12/schema";
  root["title"] = title;
  root["type"] = "object";
  root["additionalProperties"] = false;
  root["properties"] = nlohmann::ordered_json::object();
  const auto object_at = [&](const std::string& path) -> nlohmann::ordered_json& {
    nlohmann::ordered_json* at = &root;
    std::size_t begin = 0;
    while (begin < path.size()) {
      const std::size_t end = std::min(path.find('.', begin), path.size());
      nlohmann::ordered_json& next = (*at)["properties"][path.substr(begin, end - begin)];
      if (next.is_null()) {
        next["type"] = "object";
        next["description"] = section_help(list, path.substr(0, end));
        next["additionalProperties"] = false;
        next["properties"] = nlohmann::ordered_json::object();
      }
      at = &next;
      begin = end + 1;
    }
    return *at;
  };
  for (const Field& field : list.fields)
    object_at(section_of(field))["properties"][name_of(field)] = schema_of(field);
  return root.dump(2);
}

}  // namespace foxhunt::config
