#include "foxhunt/market/contract.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/nearest.h"
#include "foxhunt/market/product_table.h"

namespace foxhunt::market {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// "ES", "6E", "MES", "10Y": one to three capitals and digits with at least one capital.
bool is_root(std::string_view text) {
  return !text.empty() && text.size() <= 3 &&
         std::ranges::all_of(text, [](char c) { return is_digit(c) || is_upper(c); }) &&
         std::ranges::any_of(text, is_upper);
}

/// What follows the root of "ES.c.0", "ES.v.1", "ES.n.0" or "ES.FUT".
bool is_continuous_tail(std::string_view tail) {
  if (tail == "FUT") return true;
  return tail.size() >= 3 && std::string_view("cvn").find(tail[0]) != std::string_view::npos &&
         tail[1] == '.' && std::ranges::all_of(tail.substr(2), is_digit);
}

}  // namespace

const ProductRow& product_row(std::string_view product) {
  std::vector<std::string> known;
  for (const ProductRow& row : product_table()) {
    if (row.product == product) return row;
    known.emplace_back(row.product);
  }
  const std::string nearest = nearest_name(product, known);
  throw ConfigError(
      fmt::format("[market] product '{}' is not known{}; the table holds {}", product,
                  nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                  fmt::join(known, ", ")));
}

const Contract& contract_for_product(std::string_view product) {
  static const std::vector<Contract> contracts = [] {
    std::vector<Contract> all;
    for (const ProductRow& row : product_table()) {
      all.push_back({.product = std::string(row.product),
                     .exchange = std::string(row.exchange),
                     .tick = Price{row.tick_nano},
                     .multiplier = row.multiplier,
                     .currency = std::string(row.currency)});
    }
    return all;
  }();
  const ProductRow& row = product_row(product);
  return contracts[static_cast<std::size_t>(&row - product_table().data())];
}

std::string product_of_symbol(std::string_view symbol) {
  const std::size_t dot = symbol.find('.');
  if (dot != std::string_view::npos) {
    const bool known = is_root(symbol.substr(0, dot)) && is_continuous_tail(symbol.substr(dot + 1));
    return known ? std::string(symbol.substr(0, dot)) : std::string();
  }
  std::size_t year = 0;
  while (year < symbol.size() && is_digit(symbol[symbol.size() - 1 - year])) ++year;
  if ((year != 1 && year != 2 && year != 4) || symbol.size() < year + 2) return {};
  const char month = symbol[symbol.size() - year - 1];
  const std::string_view root = symbol.substr(0, symbol.size() - year - 1);
  if (std::string_view("FGHJKMNQUVXZ").find(month) == std::string_view::npos || !is_root(root))
    return {};
  return std::string(root);
}

}  // namespace foxhunt::market
