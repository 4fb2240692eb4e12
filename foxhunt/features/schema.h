#pragma once
// What the columns of a feature row mean.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::features {

struct Column {
  std::string name;        ///< "ret_5"
  std::string unit;        ///< "standard deviations"
  std::int64_t warm_up = 1;  ///< bars of a sequence needed before the value is defined
  std::string help;
};

struct Schema {
  std::vector<Column> columns;
  std::int64_t warm_up() const;  ///< the largest of the columns
  /// JSON array, as it travels in checkpoints.
  std::string to_json() const;
  static Schema from_json(const std::string& text);
  std::string hash() const;  ///< changes with names, units, warm-up or order
};

}  // namespace foxhunt::features
