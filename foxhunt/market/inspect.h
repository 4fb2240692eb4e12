#pragma once
// What a market data file holds and what is wrong with it: one pass, flat memory (a few counters
// for each symbol and each of its sessions).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/market/reader.h"

namespace foxhunt::market {

struct InspectOptions {
  /// Whose hours to hold the records against ("ES"); "" takes the product from each symbol.
  /// Errors  ConfigError where the calendar does not know it.
  std::string product{};
};

/// The bars of one symbol in one session. Missing are minutes (or seconds, hours) without a bar.
struct SessionReport {
  std::string symbol{};
  Date trade_date{};
  std::int64_t bars = 0;
  std::int64_t missing_at_open = 0;   ///< before its first bar
  std::int64_t missing_inside = 0;    ///< between its first and its last bar
  std::int64_t missing_at_close = 0;  ///< behind its last bar
  bool early_close = false;
};

struct SymbolReport {
  std::string symbol{};   ///< "#5482" where the file does not name instrument 5482
  std::string product{};  ///< "" where it is not known, or the calendar does not know it
  std::int64_t records = 0;
  UnixNanos first = kNullTime;
  UnixNanos last = kNullTime;
  std::uint64_t volume = 0;                ///< of bars and trades
  std::int64_t outside_sessions = 0;       ///< records while the market was closed
  std::int64_t in_halt = 0;                ///< records while trading was halted within a session
  std::int64_t sessions = 0;               ///< with bars
  std::int64_t sessions_without_bars = 0;  ///< between the first and the last one with bars
  std::int64_t missing = 0;                ///< sum over its sessions
};

struct Inspection {
  StreamInfo info{};
  ReadStats stats{};
  std::int64_t records = 0;  ///< of all types, those that are only counted included
  std::optional<Record> first{};
  std::optional<Record> last{};
  std::string first_symbol{};
  std::string last_symbol{};

  std::int64_t null_times = 0;    ///< records without index time
  std::int64_t out_of_order = 0;  ///< index time before that of the record before
  std::int64_t duplicates = 0;    ///< bars with the time of the bar before of the same symbol
  std::int64_t conflicting = 0;   ///< of these: with other values
  std::int64_t bad_ohlc = 0;  ///< bars whose high or low is not the highest or lowest of the four
  std::int64_t null_prices = 0;  ///< bars and trades that lack a price
  std::int64_t empty_sides = 0;  ///< book updates with one side or both empty: normal, not an error
  std::int64_t crossed = 0;      ///< book updates with bid above ask
  std::int64_t locked = 0;       ///< book updates with bid equal to ask

  std::vector<SymbolReport> symbols{};    ///< in order of appearance
  std::vector<SessionReport> sessions{};  ///< of bars shorter than a day, by trade date
  std::vector<std::string> notes{};       ///< what a reader of these numbers should know

  /// Something above is wrong with the data: anything but gaps, closed hours and empty sides.
  bool has_errors() const;
};

/// Reads all of `reader`. Errors  what the reader throws; see InspectOptions.
Inspection inspect(Reader& reader, const InspectOptions& options = {});

/// For people: a page, at most `max_sessions` lines of sessions.
std::string to_text(const Inspection& inspection, std::size_t max_sessions = 40);

/// For machines: one object. Always there are records, by_rtype (by decimal rtype; rtype_names says
/// what they are), schema, version, symbols, start, end (ISO 8601 UTC, or null). Prices are decimal
/// text, exact; no NaN.
std::string to_json(const Inspection& inspection);

}  // namespace foxhunt::market
