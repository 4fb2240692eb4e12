#include "foxhunt/features/schema.h"

#include <fmt/format.h>

#include <algorithm>
#include <type_traits>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
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

}  // namespace

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
                  .help = field<std::string>(list[i], i, "help")};
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
  }
  return hash.finish();
}

}  // namespace foxhunt::features
