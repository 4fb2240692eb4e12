#pragma once
// Numbers of a text file as exact values. Nothing here goes through a double.
//
// Each function gives the rule that `text` breaks ("is no decimal number"), or "" when `out` is
// set.

#include <cstdint>
#include <string>
#include <string_view>

#include "foxhunt/base/price.h"

namespace foxhunt::market {

/// "4321.25", "-0.5", "58": any number of decimals, but only zeros behind the ninth. "" is null.
std::string parse_decimal_price(std::string_view text, Price& out);

/// A whole number of 1e-9 units. "" and 2^63-1 are null.
std::string parse_nano_price(std::string_view text, Price& out);

/// A whole number of 0 … max. "12.000" is one, as some programs write counts.
std::string parse_unsigned(std::string_view text, std::uint64_t max, std::uint64_t& out);

/// A whole number of min … max.
std::string parse_signed(std::string_view text, std::int64_t min, std::int64_t max,
                         std::int64_t& out);

}  // namespace foxhunt::market
