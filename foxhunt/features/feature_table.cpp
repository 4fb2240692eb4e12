// The rules for what a library says of itself.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/features/feature_library.h"

namespace foxhunt::features {
namespace {

enum class Text { kName, kWords };

/// What is wrong with a text of a library, or "".
std::string text_problem(const char* text, Text kind) {
  if (text == nullptr) return "is null";
  const std::size_t size = ::strnlen(text, FOXHUNT_FEATURES_MOST_TEXT + 1);
  if (size == 0) return "is empty";
  if (size > FOXHUNT_FEATURES_MOST_TEXT)
    return fmt::format("is longer than {} bytes", FOXHUNT_FEATURES_MOST_TEXT);
  const auto fits = [kind](char c) {
    if (kind == Text::kWords) return c >= 0x20 && c < 0x7F;
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  if (std::all_of(text, text + size, fits)) return "";
  return kind == Text::kName ? "has another character than a-z, 0-9 and _"
                             : "has a character that is not printable ASCII";
}

class Check {
 public:
  explicit Check(const std::string& file) : file_(file) {}

  [[noreturn]] void fail(const std::string& what) const {
    throw ConfigError(fmt::format("{}: {}", file_, what));
  }
  void text(const std::string& place, const char* value, Text kind) const {
    if (const std::string problem = text_problem(value, kind); !problem.empty())
      fail(fmt::format("{} {}", place, problem));
  }

 private:
  const std::string& file_;
};

void check_column(const foxhunt_feature_column& column, std::size_t index, const Check& check) {
  const std::string place = fmt::format("column {}: ", index);
  check.text(place + "name", column.name, Text::kName);
  check.text(place + "unit", column.unit, Text::kWords);
  check.text(place + "help", column.help, Text::kWords);
  if (column.warm_up < 1 || column.warm_up > FOXHUNT_FEATURES_MOST_WARM_UP) {
    check.fail(fmt::format("column '{}': warm_up = {} is outside [1, {}]", column.name,
                           column.warm_up, FOXHUNT_FEATURES_MOST_WARM_UP));
  }
}

}  // namespace

void check_feature_table(const foxhunt_features* table, const std::string& file) {
  const Check check(file);
  if (table == nullptr) check.fail("foxhunt_features_v1() answers null");
  if (table->abi != FOXHUNT_FEATURES_ABI) {
    check.fail(fmt::format("made for abi {} of foxhunt_features.h, this program has {}", table->abi,
                           FOXHUNT_FEATURES_ABI));
  }
  if (table->struct_size != sizeof(foxhunt_features)) {
    check.fail(fmt::format("struct_size = {}, but foxhunt_features has {} bytes",
                           table->struct_size, sizeof(foxhunt_features)));
  }
  check.text("name", table->name, Text::kName);
  check.text("version", table->version, Text::kWords);
  if (table->n_columns < 1 || table->n_columns > FOXHUNT_FEATURES_MOST_COLUMNS) {
    check.fail(fmt::format("n_columns = {} is outside [1, {}]", table->n_columns,
                           FOXHUNT_FEATURES_MOST_COLUMNS));
  }
  if (table->state_bytes > FOXHUNT_FEATURES_MOST_STATE) {
    check.fail(fmt::format("state_bytes = {} is outside [0, {}]", table->state_bytes,
                           FOXHUNT_FEATURES_MOST_STATE));
  }
  if (table->columns == nullptr) check.fail("columns is null");
  if (table->push == nullptr) check.fail("push is null");
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < table->n_columns; ++i) {
    check_column(table->columns[i], i, check);
    const std::string_view name = table->columns[i].name;
    if (std::ranges::find(names, name) != names.end())
      check.fail(fmt::format("column '{}' is there twice", name));
    names.push_back(name);
  }
}

}  // namespace foxhunt::features
