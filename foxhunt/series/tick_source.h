#pragma once
// Trades, or mids of quotes, of one contract out of any reader.

#include <cstdint>
#include <optional>
#include <string>

#include "foxhunt/market/reader.h"
#include "foxhunt/series/event_bar.h"

namespace foxhunt::series {

enum class TickOf : std::uint8_t {
  kTrades,
  kMid,  ///< of the best bid and ask, each time that it changed; size 0
};

struct TickFilter {
  std::string product = "ES";
  std::string symbol{};  ///< one contract; "" where the file holds only one of the product
  TickOf of = TickOf::kTrades;
};

/// What became of every record: records = ticks + the rest.
struct TickCounters {
  std::int64_t records = 0;
  std::int64_t ticks = 0;
  std::int64_t other_kind = 0;      ///< neither the trades nor the quotes that are asked for
  std::int64_t other_contract = 0;  ///< of other products and contracts, spreads included
  std::int64_t unmapped = 0;        ///< the file does not say which symbol the id had on that day
  std::int64_t empty = 0;           ///< trades of no size; books with an empty side
  std::int64_t crossed = 0;         ///< mids of books whose bid is not below the ask: left out
  std::int64_t inside_event = 0;    ///< quotes before the last record of their event: left out
  std::int64_t unchanged = 0;       ///< quotes that leave the mid where it was
};

/// A record's trade; nullopt where it is none or has no size.
std::optional<Tick> trade_of(const market::Record& record);

class TickSource {
 public:
  /// Errors  ConfigError for a symbol that is not of the product.
  TickSource(market::Reader& reader, TickFilter filter);

  /// The next one in the order of the file, or nullopt at its end. A file without any symbols is
  /// taken to hold the contract.
  /// Errors  what the reader throws; DataError when two contracts of the product trade in the file
  ///         and none was named.
  std::optional<Tick> next();

  const TickCounters& counters() const { return counters_; }
  const std::string& symbol() const { return symbol_; }             ///< "" where the file says none
  market::InstrumentKey instrument() const { return instrument_; }  ///< of the newest tick

 private:
  bool is_meant(const market::InstrumentKey& instrument, UnixNanos at);
  std::optional<Tick> mid_of(const market::TopOfBook& quote);

  market::Reader& reader_;
  TickFilter filter_;
  TickCounters counters_;
  std::string symbol_;
  market::InstrumentKey instrument_{};
  /// The answer for the newest instrument and UTC day: ids are unique only within a day.
  std::optional<market::InstrumentKey> known_;
  std::int64_t known_day_ = 0;
  bool known_meant_ = false;
  bool known_unmapped_ = false;
  bool any_ = false;  ///< instrument_ holds a tick's
  Price last_mid_{};
};

}  // namespace foxhunt::series
