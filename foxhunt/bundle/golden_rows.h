#pragma once
// Golden records as rows of whole numbers, and back; the columns are those of bundle_layout.h.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/market/record.h"

namespace foxhunt::bundle {

/// [records, kBarColumns] or [records, kEventColumns].
std::vector<std::int64_t> golden_rows(const std::vector<market::Bar>& bars);
std::vector<std::int64_t> golden_rows(const std::vector<market::OrderEvent>& events);

/// One row of tensor `tensor`. Errors  FormatError naming tensor, row and column: a value that its
/// field cannot hold.
class GoldenRow {
 public:
  GoldenRow(const std::string& tensor, std::size_t row, std::span<const std::int64_t> values)
      : tensor_(tensor), row_(row), values_(values) {}
  market::Bar bar() const;           ///< of kBarColumns values
  market::OrderEvent event() const;  ///< of kEventColumns values

 private:
  std::int64_t in_range(std::size_t column, std::int64_t least, std::int64_t most) const;

  const std::string& tensor_;
  std::size_t row_;
  std::span<const std::int64_t> values_;
};

}  // namespace foxhunt::bundle
