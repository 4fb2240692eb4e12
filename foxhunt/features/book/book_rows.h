#pragma once
// Rows out of book views, whatever fed the book. BookFeatures (book_features.h) feeds it from
// orders.
//
// A row after event t is a function of the events of its sequence up to t, and after the declared
// warm-up of the last warm-up views alone, to the last bit. A new session, a halt, a snapshot, a
// clear, a one-sided book, a feed that lost records or a long hole starts a new sequence.
//
// With Pb_m, Qb_m, Pa_m, Qa_m price and size of the m-th best bid and ask after event t (an empty
// level: size 0, a bid at minus, an ask at plus infinity), p' and q' the same one event before,
// S_n the sum over the last n events, D_L = sum over m <= L of Qb_m + Qa_m:
//
//   spread            (Pa_1 - Pb_1) / tick                                         ticks
//   micro_minus_mid   spread / 2 * (Qb_1 - Qa_1) / (Qb_1 + Qa_1)                   ticks
//   imbalance_L       sum over m <= L of (Qb_m - Qa_m), over D_L                   -1 to 1
//   since_last        ln(1 + microseconds since the event before)                  ln of us
//   ofi_L_n           2 n S_n(sum over m <= L of e_m) / S_n(D_L)                   mean depths
//                     e_m = [Pb_m >= Pb'_m] Qb_m - [Pb_m <= Pb'_m] Qb'_m
//                         - [Pa_m <= Pa'_m] Qa_m + [Pa_m >= Pa'_m] Qa'_m   (order-flow imbalance)
//   flow_n            S_n(bought - sold) / S_n(traded), 0 without trades           -1 to 1
//   volume_n          ln(1 + S_n(traded))                                          ln of size
//   adds_n            S_n(A records) / n                                           per event
//   cancels_n         S_n(C records of events without a fill) / n                  per event
//   depleted_bid_n    2 n S_n(lost) / S_n(D_1), lost = Qb'_1 where Pb_1 < Pb'_1,
//                     max(0, Qb'_1 - Qb_1) where equal, 0 where higher             mean queues
//   depleted_ask_n    the same of the ask
//   vol_n             sqrt(S_n(move^2) / n), move of the mid over one event        ticks
//   time_n            ln(1 + microseconds the n events took)                       ln of us

#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "foxhunt/base/bytes.h"
#include "foxhunt/book/view.h"
#include "foxhunt/features/book/book_feature_config.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/calendar.h"

namespace foxhunt::features {

enum class BookStatus : std::uint8_t {
  kReady,        ///< the row is written
  kWarmingUp,    ///< too little past in this sequence
  kNotSampled,   ///< not one of the events that the configuration wants rows for
  kInsideEvent,  ///< the event goes on (or the record is another instrument's)
  kNoBook,       ///< not yet begun, or without bids or asks
  kCrossed,      ///< crossed or locked: the event counts in windows, but gives no row
  kBadFeed,      ///< lost records (a new sequence) or a bad ts_recv (no row)
  kBadValue,     ///< off the tick grid, or too large: a new sequence
  kClosed,       ///< outside of sessions
};
inline constexpr std::size_t kBookStatuses = 9;

struct BookPush {
  BookStatus status = BookStatus::kInsideEvent;
  bool starts_sequence = false;
};

/// What happened within one event.
struct EventTally {
  std::int64_t bought = 0, sold = 0;  ///< size by the aggressor's side
  std::int64_t unsided = 0;           ///< traded, the aggressor unknown
  std::int64_t trades = 0, fills = 0, adds = 0, cancels = 0;
  bool restart = false;  ///< a snapshot or a clear: state, not an event
  friend bool operator==(const EventTally&, const EventTally&) = default;
};

class BookRows {
 public:
  /// Without a calendar the market is always open. Errors  ConfigError: a value out of range,
  /// levels or spans that do not increase, no span, a tick that is not positive.
  BookRows(BookFeatureConfig config, Price tick, std::optional<market::Calendar> calendar);
  ~BookRows();
  BookRows(const BookRows& other);
  BookRows& operator=(const BookRows& other);
  BookRows(BookRows&&) noexcept;
  BookRows& operator=(BookRows&&) noexcept;

  const Schema& schema() const noexcept;
  std::int64_t width() const noexcept;
  const BookFeatureConfig& config() const noexcept;
  /// So many levels of a view are looked at, the last of config().levels.
  std::size_t levels() const noexcept;

  /// After a whole event; `view` is null where there is no book. `row` [F] is written when the
  /// answer is kReady: raw values, all finite. Views come in the order of ts_recv; a step back is
  /// counted and taken as no time. Errors  ShapeError when `row` is not [F].
  /// Cost  O(F), whatever the spans; no allocation.
  BookPush take(const book::DepthView* view, const EventTally& tally, std::span<float> row);

  /// Events by what became of them.
  std::int64_t count(BookStatus status) const noexcept;
  std::int64_t sequences() const noexcept;
  std::int64_t steps_back() const noexcept;         ///< of ts_recv
  const market::Session& session() const noexcept;  ///< of the last event; all null without
  void reset() noexcept;

  /// One part; equal streams give equal bytes. Errors of restore  FormatError: damaged, another
  /// configuration (what differs), values that no stream leaves behind; nothing is changed then.
  void save(ByteWriter& to) const;
  void restore(ByteReader& from);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt::features
