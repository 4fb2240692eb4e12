#pragma once
// What an instrument was at a point in time, from definition records: tick, multiplier, expiry,
// class.

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foxhunt/market/record.h"

namespace foxhunt::market {

class DefinitionTable {
 public:
  /// A definition stands for the UTC date of its index time and `carry` days more: ids are unique
  /// within (dataset, UTC date) only, so a longer carry needs a venue that keeps its ids.
  explicit DefinitionTable(std::chrono::days carry = std::chrono::days{0}) : carry_(carry) {}

  /// In any order. One without an index time is counted and left out.
  void add(std::string_view dataset, const Definition& definition);

  /// The newest definition whose index time is at or before `at`, nullptr where there is none,
  /// where it is too old or where it says that the instrument was deleted. Nothing after `at` is
  /// seen. Cost  O(log n). Lifetime  until the next add().
  const Definition* at(std::string_view dataset, std::uint32_t instrument_id, UnixNanos at) const;

  std::int64_t undated() const { return undated_; }

 private:
  std::chrono::days carry_;
  std::map<std::pair<std::string, std::uint32_t>, std::vector<Definition>, std::less<>> known_;
  std::int64_t undated_ = 0;
};

/// A future that is not a spread: what a series of prices may be made of. Query by parent (ES.FUT)
/// and a file mixes these with spreads, whose prices are differences.
inline bool is_outright_future(const Definition& definition) {
  return definition.instrument_class == 'F';
}

/// What one contract is worth for each unit of price: unit_of_measure_qty (ES: 50), null where the
/// venue does not say. CME's contract_multiplier is mostly undefined and is not used.
inline Price multiplier_of(const Definition& definition) { return definition.unit_of_measure_qty; }

}  // namespace foxhunt::market
