#pragma once
// Recorded depth of Hyperliquid: lines of `local_ns {json}`. Each message of the channel `l2Book`
// is the whole book of its twenty best levels; there is nothing between two of them.

#include <cstdint>
#include <string>
#include <string_view>

#include "foxhunt/book/view.h"

namespace foxhunt::book {

struct HyperliquidCounters {
  std::int64_t lines = 0;  ///< = snapshots + trade_messages + others
  std::int64_t snapshots = 0;
  std::int64_t trade_messages = 0;
  std::int64_t others = 0;
  std::int64_t levels = 0;        ///< of all snapshots
  std::int64_t out_of_order = 0;  ///< snapshots in which a level is not worse than the one before
  std::int64_t crossed = 0;
  std::int64_t locked = 0;
};

class HyperliquidFeed {
 public:
  /// `name` stands for the file in messages.
  HyperliquidFeed(market::InstrumentKey instrument, std::string name)
      : instrument_(instrument), name_(std::move(name)) {}

  /// One line without its end. True where it is a snapshot: view() is then that of it, with the
  /// number of orders at each level. Sizes are whole numbers of 1e-8.
  /// Errors  FormatError with name, line and what is wrong: no time, no JSON, a field missing or of
  /// the wrong type, a price or size that is no decimal of at most 9 (8) places.
  bool line(std::string_view text);
  /// Empty before the first snapshot.
  const DepthView& view() const noexcept { return view_; }
  const HyperliquidCounters& counters() const noexcept { return counters_; }

 private:
  [[noreturn]] void fail(const std::string& what) const;

  market::InstrumentKey instrument_;
  std::string name_;
  DepthView view_{};
  HyperliquidCounters counters_{};
};

}  // namespace foxhunt::book
