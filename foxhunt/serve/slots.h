#pragma once
// What travels: a record in, an answer out, as plain bytes of fixed size.

#include <cstdint>
#include <string_view>

#include "foxhunt/market/record.h"
#include "foxhunt/serve/ring.h"

namespace foxhunt::serve {

inline constexpr std::size_t kSymbolBytes = 24;
inline constexpr std::size_t kMostOutputs = 32;

/// A bar. Prices in 1e-9 units, times in nanoseconds since 1970 UTC; what is undefined is the
/// smallest std::int64_t for a time and the largest for a price, as in DBN.
struct RecordSlot {
  std::int64_t start = 0;  ///< of the interval
  std::int64_t span = 0;   ///< ns
  std::int64_t open = 0, high = 0, low = 0, close = 0;
  std::uint64_t volume = 0;
  std::uint32_t instrument_id = 0;
  std::uint16_t publisher_id = 0;
  /// 1: the stream says which symbol an instrument is, so that an empty `symbol` is one that it
  /// does not know; 0: it says nothing and every bar is of the bundle's product.
  std::uint16_t has_symbols = 0;
  char symbol[kSymbolBytes]{};  ///< filled with zeros
};
static_assert(sizeof(RecordSlot) == 88);

/// An order event, in the units of RecordSlot.
struct OrderSlot {
  std::int64_t event = 0;     ///< at the venue
  std::int64_t received = 0;  ///< the stream's order
  std::uint64_t order_id = 0;
  std::int64_t price = 0;
  std::uint32_t size = 0;  ///< 0 or 4294967295: none
  std::uint32_t sequence = 0;
  std::uint32_t instrument_id = 0;
  std::int32_t delta = 0;  ///< ns from sending to receiving
  std::uint16_t publisher_id = 0;
  std::uint16_t has_symbols = 0;  ///< as in RecordSlot
  std::uint8_t flags = 0;         ///< as in DBN
  std::uint8_t channel_id = 0;
  char action = 'N';            ///< letters as in DBN
  char side = 'N';              ///< A, B; anything else: none
  char symbol[kSymbolBytes]{};  ///< filled with zeros
};
static_assert(sizeof(OrderSlot) == 80);

/// An answer, beside what it answers.
struct AnswerSlot {
  std::uint64_t number = 0;      ///< from 1, without a hole, across restarts with a state
  std::int64_t event_time = 0;   ///< when the bar was over
  std::int64_t bar_start = 0;    ///<
  std::int64_t close = 0;        ///< 1e-9 units
  std::int64_t engine_time = 0;  ///< when the answer was made, wall clock
  std::int64_t latency = 0;      ///< ns from the record in hand to the answer, monotonic clock
  std::uint8_t model[32]{};      ///< engine::Plan::model_id() in bytes
  char symbol[kSymbolBytes]{};
  std::uint32_t n_outputs = 0;
  std::uint32_t reserved = 0;
  float outputs[kMostOutputs]{};  ///< as the model gives them: logits, a value, quantiles
};
static_assert(sizeof(AnswerSlot) == 48 + 32 + 24 + 8 + 4 * kMostOutputs);

/// Errors  DataError: a symbol over 23 characters.
RecordSlot slot_of(const market::Bar& bar, std::string_view symbol, bool has_symbols);
OrderSlot slot_of(const market::OrderEvent& event, std::string_view symbol, bool has_symbols);
market::Bar record_of(const RecordSlot& slot);
market::OrderEvent record_of(const OrderSlot& slot);

/// The slot of a record in a ring, and the kind of such a ring.
template <class Record>
struct SlotFor;
template <>
struct SlotFor<market::Bar> {
  using Slot = RecordSlot;
  static constexpr RingKind kKind = RingKind::kRecords;
};
template <>
struct SlotFor<market::OrderEvent> {
  using Slot = OrderSlot;
  static constexpr RingKind kKind = RingKind::kOrders;
};

/// Up to the first zero.
std::string_view text_of(const char (&symbol)[kSymbolBytes]);
/// Errors  DataError: over 23 characters.
void set_text(char (&symbol)[kSymbolBytes], std::string_view text);

}  // namespace foxhunt::serve
