#include "foxhunt/bundle/golden_rows.h"

#include <fmt/format.h>

#include <bit>
#include <chrono>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/bundle/bundle_layout.h"

namespace foxhunt::bundle {
namespace {

constexpr std::int64_t kMost16 = std::numeric_limits<std::uint16_t>::max();
constexpr std::int64_t kMost32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kMost64 = std::numeric_limits<std::int64_t>::max();

std::int64_t byte_of(char c) { return static_cast<unsigned char>(c); }
std::uint8_t byte_at(std::int64_t word, int place) {
  return static_cast<std::uint8_t>(word >> (8 * place) & 0xFF);
}

}  // namespace

std::vector<std::int64_t> golden_rows(const std::vector<market::Bar>& bars) {
  std::vector<std::int64_t> rows;
  rows.reserve(bars.size() * kBarColumns);
  for (const market::Bar& bar : bars) {
    const std::int64_t row[kBarColumns] = {bar.instrument.publisher_id,
                                           bar.instrument.instrument_id,
                                           count(bar.start),
                                           bar.span.count(),
                                           bar.open.nano,
                                           bar.high.nano,
                                           bar.low.nano,
                                           bar.close.nano,
                                           std::bit_cast<std::int64_t>(bar.volume)};
    rows.insert(rows.end(), std::begin(row), std::end(row));
  }
  return rows;
}

std::vector<std::int64_t> golden_rows(const std::vector<market::OrderEvent>& events) {
  std::vector<std::int64_t> rows;
  rows.reserve(events.size() * kEventColumns);
  for (const market::OrderEvent& e : events) {
    const std::int64_t row[kEventColumns] = {
        std::int64_t{e.instrument.publisher_id} << 32 | std::int64_t{e.instrument.instrument_id},
        count(e.ts_event),
        count(e.ts_recv),
        std::bit_cast<std::int64_t>(e.order_id),
        e.price.nano,
        e.size,
        byte_of(e.action) | byte_of(static_cast<char>(e.side)) << 8 | std::int64_t{e.flags} << 16 |
            std::int64_t{e.channel_id} << 24,
        e.sequence,
        e.ts_in_delta};
    rows.insert(rows.end(), std::begin(row), std::end(row));
  }
  return rows;
}

std::int64_t GoldenRow::in_range(std::size_t column, std::int64_t least, std::int64_t most) const {
  const std::int64_t value = values_[column];
  if (value < least || value > most) {
    throw FormatError(fmt::format("tensor '{}': row {}, column {} is {}, but must be in [{}, {}]",
                                  tensor_, row_, column, value, least, most));
  }
  return value;
}

market::Bar GoldenRow::bar() const {
  return {
      .instrument = {.publisher_id = static_cast<std::uint16_t>(in_range(kPublisher, 0, kMost16)),
                     .instrument_id =
                         static_cast<std::uint32_t>(in_range(kInstrument, 0, kMost32))},
      .start = from_nanos(values_[kStart]),
      .span = std::chrono::nanoseconds{in_range(kSpan, 1, kMost64)},
      .open = Price{values_[kOpen]},
      .high = Price{values_[kHigh]},
      .low = Price{values_[kLow]},
      .close = Price{values_[kClose]},
      .volume = std::bit_cast<std::uint64_t>(values_[kVolume])};
}

market::OrderEvent GoldenRow::event() const {
  const std::int64_t instrument = in_range(kEventInstrument, 0, kMost16 << 32 | kMost32);
  const std::int64_t letters = in_range(kEventLetters, 0, kMost32);
  return {.instrument = {.publisher_id = static_cast<std::uint16_t>(instrument >> 32),
                         .instrument_id = static_cast<std::uint32_t>(instrument & kMost32)},
          .ts_event = from_nanos(values_[kEventTime]),
          .ts_recv = from_nanos(values_[kEventReceived]),
          .order_id = std::bit_cast<std::uint64_t>(values_[kEventOrder]),
          .price = Price{values_[kEventPrice]},
          .size = static_cast<std::uint32_t>(in_range(kEventSize, 0, kMost32)),
          .action = static_cast<char>(byte_at(letters, 0)),
          .side = market::side_of(static_cast<char>(byte_at(letters, 1))),
          .flags = byte_at(letters, 2),
          .channel_id = byte_at(letters, 3),
          .sequence = static_cast<std::uint32_t>(in_range(kEventSequence, 0, kMost32)),
          .ts_in_delta = static_cast<std::int32_t>(
              in_range(kEventDelta, std::numeric_limits<std::int32_t>::min(),
                       std::numeric_limits<std::int32_t>::max()))};
}

}  // namespace foxhunt::bundle
