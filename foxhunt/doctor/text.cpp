#include "foxhunt/doctor/text.h"

#include <fmt/format.h>

#include "foxhunt/base/number_text.h"

namespace foxhunt::doctor {

std::string text_of(Price price) { return price.is_null() ? "null" : decimal_text(price); }

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

}  // namespace foxhunt::doctor
