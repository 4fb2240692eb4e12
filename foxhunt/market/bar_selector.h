#pragma once
// Which records of a file are the bars, or the order events, that are meant. Training and
// prediction select through this same object.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/bytes.h"
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
  std::int64_t other_type = 0;      ///< neither bars nor order events, whichever is meant
  std::int64_t other_product = 0;   ///< spreads and options included
  std::int64_t other_contract = 0;  ///< of the product, but not the filter's symbol
  std::int64_t unmapped = 0;        ///< the file does not say which symbol the id had on this day
};

/// Records in the order of the file, of one contract at a time.
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
  const Bar* next(Reader& reader) { return next_of<Bar>(reader); }
  /// The same of order events. Events of two contracts that alternate within a session are mixed.
  const OrderEvent* next_event(Reader& reader) { return next_of<OrderEvent>(reader); }
  /// The two by type, for code that serves both.
  template <class T>
  const T* next_of(Reader& reader);

  /// Symbol of the record that was given last; "" where the file does not say.
  const std::string& symbol() const { return memory_.symbol; }
  const SelectionCounters& counters() const { return memory_.counters; }

  /// Appends one part (base/state_part.h): which bars were meant, the last one, the contracts that
  /// its session has left, the counters.
  void save(ByteWriter& to) const;
  /// Goes on where the saved selector stood, with any reader that stands behind the record that it
  /// read last; of a single file, that is behind counters().records records. Errors  FormatError:
  /// bytes cut short or damaged, another version, another filter (both are named), values that no
  /// selector leaves behind. The selector is then as it was; where `from` stands is open.
  void restore(ByteReader& from);

 private:
  enum class Verdict : std::uint8_t { kSelected, kOtherProduct, kOtherContract, kUnmapped };
  struct Known {
    Verdict verdict = Verdict::kSelected;
    std::string symbol;
  };

  bool take(const Reader& reader, const InstrumentKey& instrument, UnixNanos at);
  const Known& look_up(const Reader& reader, const InstrumentKey& instrument, UnixNanos at);
  Known judge(const Reader& reader, const InstrumentKey& instrument, UnixNanos at) const;
  void refuse_mixed(const InstrumentKey& instrument, UnixNanos at, const std::string& symbol);

  BarFilter filter_;
  Calendar calendar_;

  const Reader* reader_ = nullptr;  ///< whose ids `known_` holds
  /// By publisher and instrument, and UTC day: ids are unique only within a day.
  std::map<std::pair<std::uint64_t, std::int64_t>, Known> known_;

  /// What the next answer depends on beside the reader; a new member belongs into save(), too.
  struct Last {
    InstrumentKey instrument;
    UnixNanos start = kNullTime;  ///< index time
  };
  struct Memory {
    SelectionCounters counters;
    std::optional<Last> last;  ///< record selected
    std::string symbol;        ///< of `last`
    std::vector<InstrumentKey>
        left;  ///< contracts that the session of `left_open` has moved on from
    UnixNanos left_open = kNullTime;
  };
  Memory memory_;
};

}  // namespace foxhunt::market
