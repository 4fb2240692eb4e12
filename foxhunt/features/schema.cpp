#include "foxhunt/features/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::features {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
T field(const Json& column, std::size_t index, const char* name) {
  try {
    const Json& value = column.at(name);
    if constexpr (std::is_same_v<T, std::int64_t>) {
      if (const auto whole = whole_number(value)) return *whole;
      throw FormatError(fmt::format("[schema] column {}: field '{}': {} is no whole number", index,
                                    name, value.dump()));
    } else {
      return value.get<T>();
    }
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("[schema] column {}: field '{}': {}", index, name, error.what()));
  }
}

/// Of a column that says who made it; empty for foxhunt's own.
Library library_of(const Json& column, std::size_t index) {
  if (!column.is_object() || !column.contains("library")) return {};
  Library library{.name = field<std::string>(column, index, "library"),
                  .version = field<std::string>(column, index, "library_version"),
                  .sha256 = field<std::string>(column, index, "library_sha256")};
  const auto is_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (library.sha256.size() != 64 || !std::ranges::all_of(library.sha256, is_hex)) {
    throw FormatError(
        fmt::format("[schema] column {}: field 'library_sha256': '{}' is no SHA-256 of 64 "
                    "hexadecimal digits",
                    index, library.sha256));
  }
  return library;
}

}  // namespace

std::string Library::text() const {
  return fmt::format("{} {} (SHA-256 {})", name, version, sha256);
}

std::vector<Library> Schema::libraries() const {
  std::vector<Library> found;
  for (const Column& column : columns) {
    if (column.library && std::ranges::find(found, column.library) == found.end())
      found.push_back(column.library);
  }
  return found;
}

std::int64_t Schema::warm_up() const {
  std::int64_t longest = 1;
  for (const Column& column : columns) longest = std::max(longest, column.warm_up);
  return longest;
}

std::string Schema::to_json() const {
  Json list = Json::array();
  for (const Column& column : columns) {
    list.push_back({{"name", column.name},
                    {"unit", column.unit},
                    {"warm_up", column.warm_up},
                    {"help", column.help}});
    if (!column.library) continue;
    list.back()["library"] = column.library.name;
    list.back()["library_version"] = column.library.version;
    list.back()["library_sha256"] = column.library.sha256;
  }
  return list.dump();
}

Schema Schema::from_json(const std::string& text) {
  if (const std::string problem = json_problem(text); !problem.empty())
    throw FormatError("[schema] the text " + problem);
  const Json list = Json::parse(text);
  if (!list.is_array()) throw FormatError("[schema] the text is not a JSON array of columns");
  Schema schema;
  for (std::size_t i = 0; i < list.size(); ++i) {
    Column column{.name = field<std::string>(list[i], i, "name"),
                  .unit = field<std::string>(list[i], i, "unit"),
                  .warm_up = field<std::int64_t>(list[i], i, "warm_up"),
                  .help = field<std::string>(list[i], i, "help"),
                  .library = library_of(list[i], i)};
    if (column.warm_up < 1) {
      throw FormatError(fmt::format("[schema] column '{}': warm_up = {}, but it must be at least 1",
                                    column.name, column.warm_up));
    }
    for (const Column& other : schema.columns) {
      if (other.name == column.name) {
        throw FormatError(fmt::format("[schema] column '{}' is there twice", column.name));
      }
    }
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

std::string Schema::hash() const {
  Sha256 hash;
  for (const Column& column : columns) {
    // Lengths in front, so that no shift of a character between fields gives the same text.
    hash.update(fmt::format("{}:{} {}:{} {}\n", column.name.size(), column.name, column.unit.size(),
                            column.unit, column.warm_up));
    const Library& library = column.library;
    if (!library) continue;
    hash.update(fmt::format("library {}:{} {}:{} {}\n", library.name.size(), library.name,
                            library.version.size(), library.version, library.sha256));
  }
  return hash.finish();
}

}  // namespace foxhunt::features
