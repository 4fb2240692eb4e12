#pragma once
// What a futures contract is: tick, multiplier, and the product behind a contract's symbol.

#include <string>
#include <string_view>

#include "foxhunt/base/price.h"

namespace foxhunt::market {

struct Contract {
  std::string product;    ///< "ES"
  std::string exchange;   ///< "CME", "CBOT", "COMEX"
  Price tick;             ///< smallest price step; ES 0.25
  double multiplier = 0;  ///< currency per point; ES 50
  std::string currency;   ///< "USD"

  double tick_value() const { return tick.to_double() * multiplier; }
};

/// Errors  ConfigError naming the products that are known.
/// Lifetime  static.
const Contract& contract_for_product(std::string_view product);

/// "ESZ3", "ESZ23", "ESZ2013", a continuous "ES.c.0" or a parent "ES.FUT" -> "ES"; "" where it is
/// no futures symbol (options and spreads such as "ESZ5-ESH6" included). Goes by the form alone:
/// "CLZ3" -> "CL", though the calendar does not know CL.
std::string product_of_symbol(std::string_view symbol);

}  // namespace foxhunt::market
