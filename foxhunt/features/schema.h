#pragma once
// What the columns of a feature row mean.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::features {

/// The shared library that a column comes from. Empty: one of foxhunt's own.
struct Library {
  std::string name{}, version{};
  std::string sha256{};  ///< of the file

  explicit operator bool() const { return !sha256.empty(); }
  friend bool operator==(const Library&, const Library&) = default;
  /// "user_features 1.0 (SHA-256 …)"
  std::string text() const;
};

struct Column {
  std::string name;          ///< "ret_5"
  std::string unit;          ///< "standard deviations"
  std::int64_t warm_up = 1;  ///< bars of a sequence needed before the value is defined
  std::string help;
  Library library{};
};

struct Schema {
  std::vector<Column> columns;

  std::int64_t warm_up() const;  ///< the largest of the columns; 1 without columns
  /// In the order of their columns, each once.
  std::vector<Library> libraries() const;
  /// JSON array, as it travels in checkpoints.
  std::string to_json() const;
  /// Errors  FormatError naming the column and the field: no JSON, a field missing or of the wrong
  /// type, a name twice.
  static Schema from_json(const std::string& text);
  /// SHA-256 that changes with names, units, warm-up, order or a library; not with help.
  std::string hash() const;
};

}  // namespace foxhunt::features
