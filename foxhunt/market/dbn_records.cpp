#include "foxhunt/market/dbn_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_bytes.h"

namespace foxhunt::market {
namespace {

using Bytes = std::span<const std::byte>;

constexpr DbnRecordKind kKinds[] = {
    {rtype::kTrades, "trades", {48, 48, 48}},
    {rtype::kMbp1, "mbp-1", {80, 80, 80}},
    {rtype::kMbp10, "mbp-10", {368, 368, 368}},
    {rtype::kOhlcvOld, "ohlcv", {56, 56, 56}},
    {rtype::kStatus, "status", {40, 40, 40}},
    {rtype::kDefinition, "definition", {360, 400, 520}},
    {rtype::kImbalance, "imbalance", {112, 112, 112}},
    {rtype::kError, "error", {80, 320, 320}},
    {rtype::kSymbolMapping, "symbol-mapping", {80, 176, 176}},
    {rtype::kSystem, "system", {80, 320, 320}},
    {rtype::kStatistics, "statistics", {64, 64, 80}},
    {rtype::kOhlcv1s, "ohlcv-1s", {56, 56, 56}},
    {rtype::kOhlcv1m, "ohlcv-1m", {56, 56, 56}},
    {rtype::kOhlcv1h, "ohlcv-1h", {56, 56, 56}},
    {rtype::kOhlcv1d, "ohlcv-1d", {56, 56, 56}},
    {rtype::kOhlcvEod, "ohlcv-eod", {56, 56, 56}},
    {rtype::kMbo, "mbo", {56, 56, 56}},
    {rtype::kCmbp1, "cmbp-1", {80, 80, 80}},
    {rtype::kCbbo1s, "cbbo-1s", {80, 80, 80}},
    {rtype::kCbbo1m, "cbbo-1m", {80, 80, 80}},
    {rtype::kTcbbo, "tcbbo", {80, 80, 80}},
    {rtype::kBbo1s, "bbo-1s", {80, 80, 80}},
    {rtype::kBbo1m, "bbo-1m", {80, 80, 80}},
};

constexpr std::uint64_t kUndefinedTime = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint32_t kUndefinedSize = std::numeric_limits<std::uint32_t>::max();

// Header, the same in all versions.
constexpr std::size_t kRtypeAt = 1;
constexpr std::size_t kPublisherAt = 2;
constexpr std::size_t kInstrumentAt = 4;
constexpr std::size_t kTsEventAt = 8;
// Bars.
constexpr std::size_t kOpenAt = 16;
constexpr std::size_t kHighAt = 24;
constexpr std::size_t kLowAt = 32;
constexpr std::size_t kCloseAt = 40;
constexpr std::size_t kVolumeAt = 48;
// Trades, and the head of mbp-1.
constexpr std::size_t kPriceAt = 16;
constexpr std::size_t kSizeAt = 24;
constexpr std::size_t kActionAt = 28;
constexpr std::size_t kSideAt = 29;
constexpr std::size_t kFlagsAt = 30;
constexpr std::size_t kDepthAt = 31;
constexpr std::size_t kTsRecvAt = 32;
constexpr std::size_t kTsInDeltaAt = 40;
constexpr std::size_t kSequenceAt = 44;
constexpr std::size_t kLevelAt = 48;
// Market by order.
constexpr std::size_t kOrderIdAt = 16;
constexpr std::size_t kOrderPriceAt = 24;
constexpr std::size_t kOrderSizeAt = 32;
constexpr std::size_t kOrderFlagsAt = 36;
constexpr std::size_t kOrderChannelAt = 37;
constexpr std::size_t kOrderActionAt = 38;
constexpr std::size_t kOrderSideAt = 39;
constexpr std::size_t kOrderTsRecvAt = 40;
constexpr std::size_t kOrderTsInDeltaAt = 48;
constexpr std::size_t kOrderSequenceAt = 52;

/// Where the fields of a definition stand that move from version to version.
struct DefinitionLayout {
  struct Text {
    std::size_t at, size;
  };
  std::size_t unit_of_measure_qty, strike_price;
  Text currency, raw_symbol, exchange, asset;
  std::size_t instrument_class, update_action;
};
constexpr DefinitionLayout kDefinitions[] = {
    {88, 328, {186, 4}, {200, 22}, {243, 5}, {248, 7}, 325, 349},
    {88, 112, {186, 4}, {200, 71}, {292, 5}, {297, 7}, 374, 382},
    {80, 104, {224, 4}, {238, 71}, {330, 5}, {335, 11}, 487, 493},
};
// And those that do not.
constexpr std::size_t kDefTsRecvAt = 16;
constexpr std::size_t kDefIncrementAt = 24;
constexpr std::size_t kDefDisplayFactorAt = 32;
constexpr std::size_t kDefExpirationAt = 40;
constexpr std::size_t kDefActivationAt = 48;

InstrumentKey load_instrument(Bytes record) {
  return {.publisher_id = load<std::uint16_t>(record, kPublisherAt),
          .instrument_id = load<std::uint32_t>(record, kInstrumentAt)};
}

UnixNanos load_time(Bytes record, std::size_t at) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  const auto nanos = load<std::uint64_t>(record, at);
  return nanos > kMost ? kNullTime : from_nanos(static_cast<std::int64_t>(nanos));
}

/// The format writes "none" as its undefined value, exchanges' feeds also as 0.
std::optional<UnixNanos> load_optional_time(Bytes record, std::size_t at) {
  const UnixNanos t = load_time(record, at);
  if (is_null(t) || count(t) == 0) return std::nullopt;
  return t;
}

/// The undefined price of the format is the null of Price: the same number.
static_assert(Price::kNullNano == std::numeric_limits<std::int64_t>::max());
Price load_price(Bytes record, std::size_t at) { return {load<std::int64_t>(record, at)}; }

std::uint32_t load_size(Bytes record, std::size_t at) {
  const auto size = load<std::uint32_t>(record, at);
  return size == kUndefinedSize ? 0 : size;
}

Side load_side(Bytes record, std::size_t at) {
  const char side = load<char>(record, at);
  if (side == 'A') return Side::kAsk;
  return side == 'B' ? Side::kBid : Side::kNone;
}

char load_letter(Bytes record, std::size_t at) {
  const char letter = load<char>(record, at);
  return letter == '\0' ? '?' : letter;
}

void store_time(std::span<std::byte> record, std::size_t at, UnixNanos t) {
  if (!is_null(t) && count(t) < 0) {
    throw DataError(
        fmt::format("[dbn_writer] {} lies before 1970, which DBN cannot hold", to_string(t)));
  }
  store(record, at, is_null(t) ? kUndefinedTime : static_cast<std::uint64_t>(count(t)));
}

void store_field(std::span<std::byte> record, DefinitionLayout::Text field, std::string_view text,
                 std::string_view name) {
  if (text.size() >= field.size) {
    throw DataError(fmt::format("[dbn_writer] {} '{}' is {} bytes long, but DBN holds {}", name,
                                text, text.size(), field.size - 1));
  }
  store_text(record, field.at, text);
}

void store_header(std::span<std::byte> record, int rtype, InstrumentKey instrument,
                  UnixNanos ts_event) {
  store(record, 0, static_cast<std::uint8_t>(record.size() / kDbnLengthUnit));
  store(record, kRtypeAt, static_cast<std::uint8_t>(rtype));
  store(record, kPublisherAt, instrument.publisher_id);
  store(record, kInstrumentAt, instrument.instrument_id);
  store_time(record, kTsEventAt, ts_event);
}

/// All fields of a version 3 definition that Definition does not hold: the format's "undefined".
void store_undefined(std::span<std::byte> record) {
  const auto fill = [&](auto value, std::initializer_list<std::size_t> places) {
    for (const std::size_t at : places) store(record, at, value);
  };
  fill(std::numeric_limits<std::int64_t>::max(), {56, 64, 72, 88, 96, 120, 128});
  fill(std::numeric_limits<std::int32_t>::max(), {136, 144, 148, 160, 164, 168, 176, 180, 184});
  fill(std::numeric_limits<std::uint32_t>::max(), {152, 156, 172});
  fill(std::numeric_limits<std::int16_t>::max(), {212});
  fill(std::numeric_limits<std::uint16_t>::max(), {214, 216});
  fill(std::numeric_limits<std::uint8_t>::max(), {489, 490, 491, 492, 494, 495, 496, 500});
  fill(std::numeric_limits<std::int8_t>::max(), {498, 499});
  fill(' ', {488});       // match_algorithm
  fill('N', {497, 502});  // user_defined_instrument: no; leg_side: none
}

}  // namespace

const DbnRecordKind* find_dbn_record_kind(int rtype) {
  const auto* at = std::find_if(std::begin(kKinds), std::end(kKinds),
                                [&](const DbnRecordKind& kind) { return kind.rtype == rtype; });
  return at == std::end(kKinds) ? nullptr : at;
}

bool is_plausible_dbn_record(int rtype, std::size_t size) {
  const DbnRecordKind* kind = find_dbn_record_kind(rtype);
  return kind != nullptr && std::any_of(kind->sizes.begin(), kind->sizes.end(), [&](auto known) {
           return size == known || size == known + kDbnTsOutSize;
         });
}

int dbn_version_by_size(int rtype, std::size_t size) {
  const DbnRecordKind* kind = find_dbn_record_kind(rtype);
  if (kind == nullptr || kind->sizes.front() == kind->sizes.back()) return 0;
  if (size >= kind->sizes[2]) return 3;
  return size >= kind->sizes[1] ? 2 : 1;
}

int dbn_layout_version(const DbnRecordKind& kind, std::size_t size, int file_version) {
  if (kind.sizes[static_cast<std::size_t>(file_version - 1)] == size) return file_version;
  const auto at = std::find(kind.sizes.rbegin(), kind.sizes.rend(), size);
  return at == kind.sizes.rend() ? file_version : static_cast<int>(kind.sizes.rend() - at);
}

std::optional<std::chrono::nanoseconds> dbn_bar_span(int rtype) {
  switch (rtype) {
    case rtype::kOhlcv1s:
      return std::chrono::seconds{1};
    case rtype::kOhlcv1m:
      return std::chrono::minutes{1};
    case rtype::kOhlcv1h:
      return std::chrono::hours{1};
    case rtype::kOhlcv1d:
    case rtype::kOhlcvEod:
      return std::chrono::hours{24};
    default:
      return std::nullopt;
  }
}

std::optional<int> dbn_bar_rtype(std::string_view schema) {
  for (const DbnRecordKind& kind : kKinds) {
    if (kind.name == schema && dbn_bar_span(kind.rtype)) return kind.rtype;
  }
  return std::nullopt;
}

Bar decode_bar(Bytes record, std::chrono::nanoseconds span) {
  return {.instrument = load_instrument(record),
          .start = load_time(record, kTsEventAt),
          .span = span,
          .open = load_price(record, kOpenAt),
          .high = load_price(record, kHighAt),
          .low = load_price(record, kLowAt),
          .close = load_price(record, kCloseAt),
          .volume = load<std::uint64_t>(record, kVolumeAt)};
}

Trade decode_trade(Bytes record) {
  return {.instrument = load_instrument(record),
          .ts_event = load_time(record, kTsEventAt),
          .ts_recv = load_time(record, kTsRecvAt),
          .price = load_price(record, kPriceAt),
          .size = load_size(record, kSizeAt),
          .action = load<char>(record, kActionAt),
          .side = load_side(record, kSideAt),
          .flags = load<std::uint8_t>(record, kFlagsAt),
          .depth = load<std::uint8_t>(record, kDepthAt),
          .sequence = load<std::uint32_t>(record, kSequenceAt),
          .ts_in_delta = load<std::int32_t>(record, kTsInDeltaAt)};
}

TopOfBook decode_top_of_book(Bytes record) {
  return {.instrument = load_instrument(record),
          .ts_event = load_time(record, kTsEventAt),
          .ts_recv = load_time(record, kTsRecvAt),
          .price = load_price(record, kPriceAt),
          .size = load_size(record, kSizeAt),
          .action = load<char>(record, kActionAt),
          .side = load_side(record, kSideAt),
          .flags = load<std::uint8_t>(record, kFlagsAt),
          .depth = load<std::uint8_t>(record, kDepthAt),
          .sequence = load<std::uint32_t>(record, kSequenceAt),
          .ts_in_delta = load<std::int32_t>(record, kTsInDeltaAt),
          .level = {.bid = load_price(record, kLevelAt),
                    .ask = load_price(record, kLevelAt + 8),
                    .bid_size = load_size(record, kLevelAt + 16),
                    .ask_size = load_size(record, kLevelAt + 20),
                    .bid_count = load<std::uint32_t>(record, kLevelAt + 24),
                    .ask_count = load<std::uint32_t>(record, kLevelAt + 28)}};
}

OrderEvent decode_order_event(Bytes record) {
  return {.instrument = load_instrument(record),
          .ts_event = load_time(record, kTsEventAt),
          .ts_recv = load_time(record, kOrderTsRecvAt),
          .order_id = load<std::uint64_t>(record, kOrderIdAt),
          .price = load_price(record, kOrderPriceAt),
          .size = load_size(record, kOrderSizeAt),
          .action = load<char>(record, kOrderActionAt),
          .side = load_side(record, kOrderSideAt),
          .flags = load<std::uint8_t>(record, kOrderFlagsAt),
          .channel_id = load<std::uint8_t>(record, kOrderChannelAt),
          .sequence = load<std::uint32_t>(record, kOrderSequenceAt),
          .ts_in_delta = load<std::int32_t>(record, kOrderTsInDeltaAt)};
}

Definition decode_definition(Bytes record, int layout_version) {
  const DefinitionLayout& layout = kDefinitions[layout_version - 1];
  const auto text = [&](DefinitionLayout::Text field) {
    return load_text(record, field.at, field.size);
  };
  return {.instrument = load_instrument(record),
          .ts_event = load_time(record, kTsEventAt),
          .ts_recv = load_time(record, kDefTsRecvAt),
          .raw_symbol = text(layout.raw_symbol),
          .asset = text(layout.asset),
          .exchange = text(layout.exchange),
          .currency = text(layout.currency),
          .instrument_class = load_letter(record, layout.instrument_class),
          .update_action = load_letter(record, layout.update_action),
          .min_price_increment = load_price(record, kDefIncrementAt),
          .display_factor = load_price(record, kDefDisplayFactorAt),
          .unit_of_measure_qty = load_price(record, layout.unit_of_measure_qty),
          .strike_price = load_price(record, layout.strike_price),
          .expiration = load_optional_time(record, kDefExpirationAt),
          .activation = load_optional_time(record, kDefActivationAt)};
}

std::array<std::byte, kDbnBarSize> encode_bar(const Bar& bar, int rtype) {
  std::array<std::byte, kDbnBarSize> record{};
  store_header(record, rtype, bar.instrument, bar.start);
  store(std::span<std::byte>(record), kOpenAt, bar.open.nano);
  store(std::span<std::byte>(record), kHighAt, bar.high.nano);
  store(std::span<std::byte>(record), kLowAt, bar.low.nano);
  store(std::span<std::byte>(record), kCloseAt, bar.close.nano);
  store(std::span<std::byte>(record), kVolumeAt, bar.volume);
  return record;
}

std::array<std::byte, kDbnDefinitionSize> encode_definition(const Definition& definition) {
  const DefinitionLayout& layout = kDefinitions[2];
  std::array<std::byte, kDbnDefinitionSize> bytes{};
  const std::span<std::byte> record(bytes);
  const auto letter = [](char c) { return c == '?' ? '\0' : c; };
  store_header(record, rtype::kDefinition, definition.instrument, definition.ts_event);
  store_undefined(record);
  store_time(record, kDefTsRecvAt, definition.ts_recv);
  store(record, kDefIncrementAt, definition.min_price_increment.nano);
  store(record, kDefDisplayFactorAt, definition.display_factor.nano);
  store_time(record, kDefExpirationAt, definition.expiration.value_or(kNullTime));
  store_time(record, kDefActivationAt, definition.activation.value_or(kNullTime));
  store(record, layout.unit_of_measure_qty, definition.unit_of_measure_qty.nano);
  store(record, layout.strike_price, definition.strike_price.nano);
  store_field(record, layout.currency, definition.currency, "currency");
  store_field(record, layout.raw_symbol, definition.raw_symbol, "raw_symbol");
  store_field(record, layout.exchange, definition.exchange, "exchange");
  store_field(record, layout.asset, definition.asset, "asset");
  store(record, layout.instrument_class, letter(definition.instrument_class));
  store(record, layout.update_action, letter(definition.update_action));
  return bytes;
}

}  // namespace foxhunt::market
