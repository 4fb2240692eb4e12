#include "foxhunt/doctor/text.h"

#include <fmt/format.h>

namespace foxhunt::doctor {

std::string text_of(Price price) {
  if (price.is_null()) return "null";
  const std::uint64_t size = price.nano < 0 ? 0 - static_cast<std::uint64_t>(price.nano)
                                            : static_cast<std::uint64_t>(price.nano);
  std::string text = fmt::format("{}{}.{:09}", price.nano < 0 ? "-" : "",
                                 size / Price::kUnitsPerOne, size % Price::kUnitsPerOne);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string text_of(const market::Bar& bar) {
  return fmt::format("O {} H {} L {} C {} V {}", text_of(bar.open), text_of(bar.high),
                     text_of(bar.low), text_of(bar.close), bar.volume);
}

std::string text_of(const market::BookLevel& level) {
  return fmt::format("bid {} x {} ask {} x {}", text_of(level.bid), level.bid_size,
                     text_of(level.ask), level.ask_size);
}

std::string day_text(std::int32_t day) {
  return to_string(Date{std::chrono::sys_days{std::chrono::days{day}}});
}

std::string grouped(std::int64_t n) {
  std::string text = fmt::format("{}", n);
  for (auto at = static_cast<std::ptrdiff_t>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) {
    text.insert(static_cast<std::size_t>(at), ",");
  }
  return text;
}

}  // namespace foxhunt::doctor
