#pragma once
// What a product has ever cost, with room: far too wide to judge a price, narrow enough to see that
// a file is off by a power of ten.

#include <array>
#include <string_view>

namespace foxhunt::doctor {

struct PriceRange {
  std::string_view product;
  double low;
  double high;
};

/// About a third of the lowest and three times the highest price since the product is listed, as
/// the exchange's public histories show them; any factor of 10 off leaves the range for prices in
/// its middle, a factor of 100 for all.
inline constexpr std::array kPriceRanges{
    PriceRange{"ES", 220, 22'000},  PriceRange{"MES", 220, 22'000}, PriceRange{"NQ", 260, 80'000},
    PriceRange{"MNQ", 260, 80'000}, PriceRange{"ZN", 60, 250},      PriceRange{"6E", 0.4, 3.0},
    PriceRange{"GC", 80, 15'000},
};

}  // namespace foxhunt::doctor
