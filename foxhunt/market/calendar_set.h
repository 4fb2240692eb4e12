#pragma once
// Calendars of many products, each made once: for whoever learns product by product what is in a
// file.

#include <map>
#include <string>

#include "foxhunt/market/calendar.h"

namespace foxhunt::market {

class CalendarSet {
 public:
  /// nullptr where no calendar knows the product. Lifetime  as the set.
  /// Cost  a look-up; about a millisecond the first time.
  const Calendar* find(const std::string& product);
  /// Errors  those of Calendar::for_product.
  const Calendar& at(const std::string& product);
  /// Those made so far, by product.
  const std::map<std::string, Calendar>& all() const { return made_; }

 private:
  std::map<std::string, Calendar> made_;
};

}  // namespace foxhunt::market
