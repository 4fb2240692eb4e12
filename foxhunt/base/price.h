#pragma once
// Prices as they travel: integers of 1e-9 of the quote currency, as in Databento's files.
//
// ES at 4321.25 is 4'321'250'000'000. Ticks, differences and comparisons are exact; a price becomes
// a floating-point number only inside features.

#include <compare>
#include <cstdint>
#include <limits>

namespace foxhunt {

struct Price {
  std::int64_t nano =
      kNullNano;  ///< 1e-9 units; negative prices are legal (spreads, CL in April 2020)

  static constexpr std::int64_t kNullNano = std::numeric_limits<std::int64_t>::max();
  static constexpr std::int64_t kUnitsPerOne = 1'000'000'000;

  static constexpr Price null() { return Price{}; }
  constexpr bool is_null() const { return nano == kNullNano; }
  /// For features and display only. NaN when null.
  constexpr double to_double() const {
    return is_null() ? std::numeric_limits<double>::quiet_NaN()
                     : static_cast<double>(nano) / static_cast<double>(kUnitsPerOne);
  }
  friend constexpr auto operator<=>(Price, Price) = default;
};

}  // namespace foxhunt
