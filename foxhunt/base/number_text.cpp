#include "foxhunt/base/number_text.h"

#include <fmt/format.h>

#include <cstddef>

namespace foxhunt {

std::string decimal_text(Price price, bool keeps_point) {
  if (price.is_null()) return "";
  // Unsigned, since the lowest price has no positive counterpart.
  const std::uint64_t size = price.nano < 0 ? 0 - static_cast<std::uint64_t>(price.nano)
                                            : static_cast<std::uint64_t>(price.nano);
  constexpr auto kUnits = static_cast<std::uint64_t>(Price::kUnitsPerOne);
  std::string text =
      fmt::format("{}{}.{:09}", price.nano < 0 ? "-" : "", size / kUnits, size % kUnits);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() != '.') return text;
  if (keeps_point) return text + '0';
  text.pop_back();
  return text;
}

std::string grouped(std::int64_t n) {
  std::string text = fmt::format("{}", n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

}  // namespace foxhunt
