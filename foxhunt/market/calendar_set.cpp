#include "foxhunt/market/calendar_set.h"

#include <algorithm>

namespace foxhunt::market {

const Calendar* CalendarSet::find(const std::string& product) {
  const auto found = made_.find(product);
  if (found != made_.end()) return &found->second;
  const auto known = Calendar::products();
  return std::ranges::find(known, product) == known.end() ? nullptr : &at(product);
}

const Calendar& CalendarSet::at(const std::string& product) {
  const auto found = made_.find(product);
  if (found != made_.end()) return found->second;
  return made_.emplace(product, Calendar::for_product(product)).first->second;
}

}  // namespace foxhunt::market
