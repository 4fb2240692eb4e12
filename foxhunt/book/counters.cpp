#include "foxhunt/book/counters.h"

#include <fmt/format.h>

namespace foxhunt::book {

std::string BookCounters::summary() const {
  std::string text;
  for (const auto& [name, field] : kBookCounters) {
    if (this->*field == 0 && field != &BookCounters::records) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", this->*field, name);
  }
  return text;
}

}  // namespace foxhunt::book
