#pragma once
// The generated table behind calendar.h and contract.h. Nobody else needs it.

#include <cstdint>
#include <span>
#include <string_view>

namespace foxhunt::market {

/// A trade date that ends early, or that has no session at all.
struct SpecialDay {
  std::int32_t date;   ///< yyyymmdd
  std::int32_t close;  ///< minutes after midnight, Chicago; -1: no session
};

/// Daily hours from a trade date on, in minutes after midnight, Chicago.
struct Hours {
  std::int32_t from;  ///< yyyymmdd
  std::int32_t close;
  std::int32_t halt_start;
  std::int32_t halt_end;  ///< equal to halt_start where there is no halt
};

struct ProductRow {
  std::string_view product;
  std::string_view exchange;
  std::string_view currency;
  std::int64_t tick_nano;                    ///< 1e-9 units
  double multiplier;                         ///< currency per point
  std::span<const SpecialDay> special_days;  ///< by date
  std::span<const Hours> hours;              ///< by date, the first from before any data
};

/// All products. Static storage.
std::span<const ProductRow> product_table();

/// Errors  ConfigError naming the products that are known.
const ProductRow& product_row(std::string_view product);

}  // namespace foxhunt::market
