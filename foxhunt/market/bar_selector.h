#pragma once
// Which records of a file are the bars that are meant. Training and prediction select through this
// same object.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/market/calendar.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {

struct BarFilter {
  std::string product = "ES";
  std::string symbol{};  ///< one contract only ("ESZ3"); "" takes every contract of the product
};

/// What became of every record: records = selected + the rest.
struct SelectionCounters {
  std::int64_t records = 0;
  std::int64_t selected = 0;
  std::int64_t not_bars = 0;        ///< trades, quotes, definitions
  std::int64_t other_product = 0;   ///< spreads and options included
  std::int64_t other_contract = 0;  ///< of the product, but not the filter's symbol
  std::int64_t unmapped = 0;        ///< the file does not say which symbol the id had on this day
};

/// Bars in the order of the file, of one contract at a time.
class BarSelector {
 public:
  /// Errors  ConfigError for a product without a calendar.
  explicit BarSelector(BarFilter filter);

  /// The next bar that is meant, or nullptr at the end of the file. A file without any symbols is
  /// taken to hold the product. Readers may follow one another; each is read to its end. Errors
  /// what the reader throws; DataError when contracts of the product are mixed, that is two of them
  /// begin a
  ///           bar at one time, or one returns within a session that had moved on from it. It names
  ///           both and a way out.
  /// Lifetime  valid until the next call.
  const Bar* next(Reader& reader);

  /// Symbol of the bar that next() gave last; "" where the file does not say.
  const std::string& symbol() const { return symbol_; }
  const SelectionCounters& counters() const { return counters_; }

 private:
  enum class Verdict : std::uint8_t { kSelected, kOtherProduct, kOtherContract, kUnmapped };
  struct Known {
    Verdict verdict = Verdict::kSelected;
    std::string symbol;
  };

  const Known& look_up(const Reader& reader, const Bar& bar);
  Known judge(const Reader& reader, const Bar& bar) const;
  void refuse_mixed(const Bar& bar, const std::string& symbol);

  BarFilter filter_;
  Calendar calendar_;
  SelectionCounters counters_;
  std::string symbol_;

  const Reader* reader_ = nullptr;  ///< whose ids `known_` holds
  /// By publisher and instrument, and UTC day: ids are unique only within a day.
  std::map<std::pair<std::uint64_t, std::int64_t>, Known> known_;

  std::optional<Bar> last_;  ///< selected
  std::vector<InstrumentKey>
      left_;  ///< contracts that the session of `left_open_` has moved on from
  UnixNanos left_open_ = kNullTime;
};

}  // namespace foxhunt::market
