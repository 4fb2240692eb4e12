#pragma once
// The one feature pipeline: bars in, rows out, one at a time. Training and serving use this same
// object.
//
// A row at bar t is a function of bars up to t only, all of one session and one contract. A new
// session, a halt inside a session, a new contract or a long hole starts a new sequence: the
// pipeline warms up again and the model's state restarts at zero. After its declared warm-up a
// value depends on the last warm-up bars of the sequence alone, to the last bit.
//
// What a pipeline remembers is saved and restored bit for bit: a stream that was cut between two
// bars goes on as if it had not been.
//
// The columns, with c, h, l, v the close, high, low and volume of bar t, s(n) the realised
// volatility of the last n one-bar log returns (volatility.h), V the longest of the volatility
// spans, all logarithms natural; behind them those of the user's libraries (foxhunt_features.h):
//
//   ret_k           ln(c[t] / c[t-k]) / (s(V) sqrt(k))            standard deviations
//   range           ln(h / l) / s(V)                              standard deviations
//   close_location  ((c - l) - (h - c)) / (h - l), 0 if h = l     -1 at the low, 1 at the high
//   volume          ln(1 + v) less its mean over the bars before  ln ratio
//   vol_n           ln(s(n) / 1e-4)                               ln of basis points
//   vol_m_over_n    ln(s(m) / s(n)) of neighbouring spans m < n   ln ratio
//   since_open      from the session's open to the bar's end      minutes
//   to_close        from the bar's end to the scheduled close     minutes
//   clock_sin/_cos  of 2 pi since_open / (24 h)                   where in the day, without a jump
//
// The open is at 17:00 Chicago all year, so since_open is a local clock and daylight saving does
// not move it.

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/record.h"

namespace foxhunt::features {

enum class Status : std::uint8_t {
  kReady,       ///< the row is written
  kWarmingUp,   ///< too little past in this sequence
  kClosed,      ///< the bar does not lie inside a session, clear of its halt: ignored
  kBadBar,      ///< null or non-positive price, inconsistent OHLC, other length: ignored
  kOutOfOrder,  ///< begins before the bar before has ended (duplicates too): ignored
  kNoSample,    ///< an order event at which no row is due (BookPipeline)
  kNotFinite,   ///< the bar was taken, but a user's column has a value that is not finite
};

/// When a row could be known, and the price it is of.
struct RowMoment {
  UnixNanos start = kNullTime;         ///< of the bar, or time of the event at the venue
  UnixNanos available_at = kNullTime;  ///< end of the bar, or when the event was received
  Price price{};                       ///< close of the bar, or mid of the book
};

struct PushResult {
  Status status = Status::kWarmingUp;
  bool starts_sequence = false;  ///< this bar is the first of a new sequence
};

/// What became of every bar, or order event, since construction or reset(). bars = taken() + all
/// that was ignored + unsampled().
struct PushCounters {
  std::int64_t bars = 0;
  std::int64_t ready = 0;
  std::int64_t warming_up = 0;
  std::int64_t closed = 0;              ///< kClosed
  std::int64_t null_value = 0;          ///< kBadBar: a price, the time or the volume is undefined
  std::int64_t non_positive_price = 0;  ///< kBadBar: legal for spreads, but without a logarithm
  std::int64_t inconsistent_ohlc = 0;   ///< kBadBar: high or low does not enclose open and close
  std::int64_t other_length = 0;        ///< kBadBar: not bar_seconds long
  std::int64_t duplicates = 0;          ///< kOutOfOrder: equal to the bar before
  std::int64_t conflicts = 0;           ///< kOutOfOrder: time of the bar before, other content
  std::int64_t out_of_order = 0;        ///< kOutOfOrder: earlier, or overlapping
  std::int64_t sequences = 0;           ///< started; because of a new
  std::int64_t new_session = 0;         ///<   session (the first one included),
  std::int64_t new_contract = 0;        ///<   contract within a session,
  std::int64_t after_halt = 0;          ///<   part of a session behind its halt,
  std::int64_t long_gap = 0;            ///<   or a hole > max_gap_minutes
  std::int64_t not_finite = 0;          ///< kNotFinite

  std::int64_t taken() const { return ready + warming_up + not_finite; }
  std::int64_t bad() const {
    return null_value + non_positive_price + inconsistent_ohlc + other_length;
  }
  std::int64_t unordered() const { return duplicates + conflicts + out_of_order; }
  /// Order events at which no row was due; 0 for bars.
  std::int64_t unsampled() const { return bars - taken() - closed - bad() - unordered(); }
  /// "1380 bars: 1319 ready, 61 warming up; ignored: 3 closed, …": what is 0 is left out.
  std::string summary() const;
};

class FeaturePipeline {
 public:
  /// Errors  ConfigError: everything that is wrong with values, spans and the contract's tick; else
  ///         a library of config.plugins that cannot be used (feature_library.h).
  FeaturePipeline(FeatureConfig config, market::Calendar calendar, market::Contract contract);
  ~FeaturePipeline();
  /// A second stream that goes on from the same bar.
  FeaturePipeline(const FeaturePipeline& other);
  FeaturePipeline& operator=(const FeaturePipeline& other);
  FeaturePipeline(FeaturePipeline&&) noexcept;
  FeaturePipeline& operator=(FeaturePipeline&&) noexcept;

  const Schema& schema() const noexcept;  ///< names, units, warm-up of each column
  std::int64_t width() const noexcept;    ///< F
  const FeatureConfig& config() const noexcept;

  /// `row` [F] is written when the answer is kReady; raw values, not normalised, all finite. Bars
  /// come in the order of their time; an ignored bar changes the counters alone.
  /// Errors  ShapeError when `row` is not [F].
  /// Cost    O(F), whatever the spans; no allocation after construction.
  PushResult push(const market::Bar& bar, std::span<float> row);
  /// push() without its check: `row` has width() elements.
  PushResult push_unchecked(const market::Bar& bar, std::span<float> row) noexcept;

  /// The session of the last accepted bar; all null before the first.
  const market::Session& session() const noexcept;
  const PushCounters& counters() const noexcept;
  std::span<const std::int64_t> not_finite() const noexcept;  ///< of each of the users' columns
  /// For people: the counters, and which columns were not finite how often.
  std::string summary() const;
  /// As newly constructed.
  void reset() noexcept;
  /// Loads the libraries of config().plugins a second time, for this stream and copies of it: what
  /// they keep in variables of their own starts anew, as in another process.
  void load_libraries_anew();

  /// Appends one part (base/state_part.h): what the next rows, statuses and counters depend on, and
  /// of which configuration, schema, product and tick. Equal streams give equal bytes.
  /// Cost    16 bytes a bar of the longest volatility span and the volume span, 8 a bar of the
  /// longest return span, what the libraries remember, and about 700 bytes.
  void save(ByteWriter& to) const;
  /// Goes on where the saved stream stood; the session comes from this calendar.
  /// Errors  FormatError: bytes cut short or damaged, another version, a pipeline made otherwise
  /// (each setting that differs, both sides), values that no stream leaves behind. All is then as
  /// it was, but where `from` stands.
  void restore(ByteReader& from);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt::features
