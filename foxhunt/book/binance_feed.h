#pragma once
// Recorded depth of Binance's USD-M and COIN-M futures into a LevelBook: lines of
// `local_ns {json}`, as collectors write them.
//
// A snapshot is asked for beside the stream and comes late: diffs are held while the book is not
// ready (the last 4096 of them) and follow the snapshot, which the book then compares them with. A
// snapshot older than what a ready book has taken is counted and left out.
//
// A diff ("e": "depthUpdate") and a snapshot ("lastUpdateId") reach the book; every other message
// is counted. Sizes are whole numbers of 1e-8 (coins; contracts on COIN-M).

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/book/level_book.h"

namespace foxhunt::book {

struct BinanceCounters {
  std::int64_t lines = 0;
  std::int64_t diffs = 0;
  std::int64_t snapshots = 0;
  std::int64_t late_snapshots = 0;  ///< older than the book: left out
  std::int64_t dropped = 0;         ///< held diffs for which there was no room
  std::int64_t others = 0;          ///< trades, best quotes, …
  std::int64_t updates = 0;         ///< of all diffs, those too that the book does not take
};

class BinanceFeed {
 public:
  /// Lifetime  `book` outlives the feed. `name` stands for the file in messages.
  BinanceFeed(LevelBook& book, std::string name) : book_(book), name_(std::move(name)) {}

  /// One line without its end. True where the book has changed.
  /// Errors  FormatError with name, line and what is wrong: no time, no JSON, a field missing or of
  /// the wrong type, a price or size that is no decimal of at most 9 (8) places.
  bool line(std::string_view text);
  const BinanceCounters& counters() const noexcept { return counters_; }

 private:
  struct Diff {
    std::vector<LevelUpdate> updates;
    std::uint64_t first_id, last_id, previous_id;
    UnixNanos ts_event, ts_recv;
  };
  bool give(const Diff& diff);
  void hold(const Diff& diff);
  [[noreturn]] void fail(const std::string& what) const;

  LevelBook& book_;
  std::string name_;
  Diff diff_{};  ///< scratch
  std::deque<Diff> held_{};
  BinanceCounters counters_{};
};

}  // namespace foxhunt::book
