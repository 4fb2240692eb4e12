#pragma once
// The series of a file: one a symbol and publisher, whatever ids it had on which days.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "foxhunt/base/price.h"
#include "foxhunt/market/calendar_set.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::doctor {

struct Series {
  std::size_t index = 0;   ///< 0, 1, 2 … in order of appearance
  std::string symbol{};    ///< "#5482" where the file does not name instrument 5482
  std::string product{};   ///< "" where it is not known, or the calendar does not know it
  bool is_spread = false;  ///< two legs in its name: its price may be anything
  bool is_option = false;  ///< its price may double within the hour
  Price tick{};            ///< null where it is not known
  const market::Calendar* calendar = nullptr;  ///< null: no hours to hold it against
};

class SeriesTable {
 public:
  /// `product`: of every series; "" goes by the symbols. Errors  ConfigError: not in the calendar.
  SeriesTable(const market::Reader& reader, std::string product);

  /// Of a record with this instrument at this time. By instrument and UTC date, since an id may
  /// mean another symbol tomorrow. Lifetime  as the table.
  Series& of(const market::Record& record, UnixNanos t);
  const std::vector<std::unique_ptr<Series>>& all() const { return all_; }
  /// Records whose id the file's own symbol map does not name.
  bool is_unmapped(const Series& series) const;

 private:
  struct Known {
    Series* series = nullptr;
    std::chrono::sys_days day{};
  };
  Series& named(const std::string& symbol, std::uint16_t publisher);

  const market::Reader& reader_;
  std::string product_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::map<std::pair<std::string, std::uint16_t>, Series*> by_symbol_;
  market::CalendarSet calendars_;
  std::vector<std::unique_ptr<Series>> all_;
};

}  // namespace foxhunt::doctor
