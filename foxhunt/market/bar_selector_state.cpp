// What a BarSelector remembers, as bytes. The symbols of ids are not among it: the reader knows
// them.

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "foxhunt/base/state_part.h"
#include "foxhunt/market/bar_selector.h"

namespace foxhunt::market {
namespace {

constexpr std::string_view kPart = "market.selector";
constexpr std::uint32_t kVersion = 1;

using Counter = std::int64_t SelectionCounters::*;
constexpr Counter kCounters[] = {
    &SelectionCounters::records,        &SelectionCounters::selected,
    &SelectionCounters::other_type,     &SelectionCounters::other_product,
    &SelectionCounters::other_contract, &SelectionCounters::unmapped};
static_assert(sizeof(SelectionCounters) == std::size(kCounters) * sizeof(std::int64_t));

/// More records than any stream has; their sums do not overflow.
constexpr std::int64_t kMostRecords = std::int64_t{1} << 56U;

constexpr std::size_t kKeyBytes = sizeof(std::uint16_t) + sizeof(std::uint32_t);

void write_key(ByteWriter& to, const InstrumentKey& key) {
  to.value(key.publisher_id);
  to.value(key.instrument_id);
}

InstrumentKey read_key(ByteReader& from) {
  InstrumentKey key;
  key.publisher_id = from.value<std::uint16_t>();
  key.instrument_id = from.value<std::uint32_t>();
  return key;
}

SelectionCounters read_counters(ByteReader& from) {
  SelectionCounters c;
  for (const Counter counter : kCounters) {
    c.*counter = from.value<std::int64_t>();
    if (c.*counter < 0 || c.*counter > kMostRecords) {
      from.fail(fmt::format("a counter of {}", c.*counter));
    }
  }
  if (c.records != c.selected + c.other_type + c.other_product + c.other_contract + c.unmapped) {
    from.fail(fmt::format("the counters contradict each other: they do not add up to {} records",
                          c.records));
  }
  return c;
}

}  // namespace

void BarSelector::save(ByteWriter& to) const {
  ByteWriter out;
  out.text(filter_.product);
  out.text(filter_.symbol);
  for (const Counter counter : kCounters) out.value(memory_.counters.*counter);
  out.value(memory_.last.has_value());
  if (memory_.last) {
    write_key(out, memory_.last->instrument);
    out.value(count(memory_.last->start));
    out.text(memory_.symbol);
    out.value(count(memory_.left_open));
    out.value(static_cast<std::uint64_t>(memory_.left.size()));
    for (const InstrumentKey& key : memory_.left) write_key(out, key);
  }
  write_part(to, kPart, kVersion, out.bytes());
}

void BarSelector::restore(ByteReader& from) {
  ByteReader in = read_part(from, kPart, kVersion);
  const std::string product = in.text(in.remaining());
  const std::string symbol = in.text(in.remaining());
  if (product != filter_.product || symbol != filter_.symbol) {
    in.fail(
        fmt::format("the state of another filter: there product = '{}', symbol = '{}'; here "
                    "product = '{}', symbol = '{}'",
                    product, symbol, filter_.product, filter_.symbol));
  }
  Memory restored;
  restored.counters = read_counters(in);
  const bool has_last = in.value<bool>();
  if (has_last != (restored.counters.selected > 0)) {
    in.fail(fmt::format("{} bars were selected, but {}", restored.counters.selected,
                        has_last ? "there is a last one" : "there is no last one"));
  }
  if (has_last) {
    Last last;
    last.instrument = read_key(in);
    last.start = from_nanos(in.value<std::int64_t>());
    restored.last = last;
    restored.symbol = in.text(in.remaining());
    restored.left_open = from_nanos(in.value<std::int64_t>());
    restored.left.resize(in.count(kKeyBytes));
    for (InstrumentKey& key : restored.left) key = read_key(in);
  }
  in.finish();
  static_assert(std::is_nothrow_move_assignable_v<Memory>);
  memory_ = std::move(restored);
  reader_ = nullptr;  // ids are looked up anew
  known_.clear();
}

}  // namespace foxhunt::market
