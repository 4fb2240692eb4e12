#pragma once
// Which symbol an instrument id was, by (dataset, UTC date, id): never by the id alone, for ids are
// used again.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "foxhunt/market/reader.h"

namespace foxhunt::market {

class SymbolMap {
 public:
  /// All that a file says: its mappings, and the symbols that did not resolve. Where several
  /// symbols stand for one id on one day (ES.c.0 and ESH1), the one added first stays.
  void add(const StreamInfo& info);
  /// One interval; days that it leaves empty or that end before they start are ignored, days that
  /// have a symbol keep it. Cost  O(log n) and one step for each known interval inside.
  void add(std::string_view dataset, const SymbolInterval& interval);
  /// One interval that counts more than what was said before: a live stream's newest word.
  void replace(std::string_view dataset, const SymbolInterval& interval);

  /// The symbol on a UTC date, "" where nobody said. Cost  O(log n), no allocation.
  /// Lifetime  that of the map.
  std::string_view symbol(std::string_view dataset, Date utc_date, std::uint32_t id) const;
  /// By the UTC date of a record's index time; "" for a null time.
  std::string_view symbol(std::string_view dataset, UnixNanos at, std::uint32_t id) const;

  /// Intervals, neighbours of one symbol apart.
  std::size_t size() const { return spans_.size(); }
  /// Symbols of the queries that resolved on some days only, and on none: whoever asked for them
  /// must be told.
  const std::vector<std::string>& partial() const { return partial_; }
  const std::vector<std::string>& not_found() const { return not_found_; }

 private:
  using Days = std::int32_t;                                 ///< since 1970
  using Key = std::tuple<std::size_t, std::uint32_t, Days>;  ///< dataset, id, first day
  struct Span {
    Days end;  ///< exclusive
    std::string_view symbol;
  };

  std::size_t dataset_index(std::string_view dataset);
  std::string_view kept(const std::string& symbol);

  std::vector<std::string> datasets_;  ///< few
  std::set<std::string, std::less<>> symbols_;
  std::map<Key, Span> spans_;  ///< without overlap
  std::vector<std::string> partial_;
  std::vector<std::string> not_found_;
};

}  // namespace foxhunt::market
