#include "foxhunt/market/dbn/values.h"

#include <algorithm>
#include <limits>
#include <string>

#include "foxhunt/market/dbn/book_records.h"
#include "foxhunt/market/dbn/venue_records.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_metadata.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market::dbn {
namespace {

// Places in version 3's texts.
constexpr std::size_t kTextAt = 16;
constexpr std::size_t kErrorSize = 302;
constexpr std::size_t kSystemSize = 303;
constexpr std::size_t kErrorCodeAt = 318;
constexpr std::size_t kSystemCodeAt = 319;
constexpr std::size_t kStypeInAt = 16;
constexpr std::size_t kInSymbolAt = 17;
constexpr std::size_t kStypeOutAt = 88;
constexpr std::size_t kOutSymbolAt = 89;
constexpr std::size_t kMappingStartAt = 160;
constexpr std::size_t kMappingEndAt = 168;
constexpr std::size_t kSymbolSize = 71;
constexpr std::uint8_t kUnsetCode = 0xFF;

InstrumentKey key_of(const RecordHeader& hd) {
  return {.publisher_id = hd.publisher_id, .instrument_id = hd.instrument_id};
}

UnixNanos time_of(std::uint64_t nanos) {
  constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return nanos > kMost ? kNullTime : from_nanos(static_cast<std::int64_t>(nanos));
}

std::optional<std::uint32_t> quantity_of(std::uint32_t size) {
  if (size == std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return size;
}

std::optional<bool> yes_or_no(char c) {
  if (c == 'Y') return true;
  if (c == 'N') return false;
  return std::nullopt;
}

market::BookLevel level_of(const Level& l) {
  return {.bid = {l.bid_px},
          .ask = {l.ask_px},
          .bid_size = stated_size(l.bid_sz),
          .ask_size = stated_size(l.ask_sz),
          .bid_count = l.bid_ct,
          .ask_count = l.ask_ct};
}

market::ConsolidatedLevel level_of(const ConsolidatedLevel& l) {
  return {.bid = {l.bid_px},
          .ask = {l.ask_px},
          .bid_size = stated_size(l.bid_sz),
          .ask_size = stated_size(l.ask_sz),
          .bid_publisher = l.bid_pb,
          .ask_publisher = l.ask_pb};
}

DepthOfBook depth_of(const Mbp10Msg& m) {
  DepthOfBook depth{.instrument = key_of(m.hd),
                    .ts_event = time_of(m.hd.ts_event),
                    .ts_recv = time_of(m.ts_recv),
                    .price = {m.price},
                    .size = stated_size(m.size),
                    .action = m.action,
                    .side = side_of(m.side),
                    .flags = m.flags,
                    .depth = m.depth,
                    .sequence = m.sequence,
                    .ts_in_delta = m.ts_in_delta};
  std::ranges::transform(m.levels, depth.levels.begin(),
                         [](const Level& l) { return level_of(l); });
  return depth;
}

Quote quote_of(const BboMsg& m, std::chrono::nanoseconds span) {
  return {.instrument = key_of(m.hd),
          .ts_event = time_of(m.hd.ts_event),
          .ts_recv = time_of(m.ts_recv),
          .span = span,
          .price = {m.price},
          .size = stated_size(m.size),
          .side = side_of(m.side),
          .flags = m.flags,
          .sequence = m.sequence,
          .level = level_of(m.levels[0])};
}

ConsolidatedQuote quote_of(const Cmbp1Msg& m) {
  return {.instrument = key_of(m.hd),
          .ts_event = time_of(m.hd.ts_event),
          .ts_recv = time_of(m.ts_recv),
          .price = {m.price},
          .size = stated_size(m.size),
          .action = m.action,
          .side = side_of(m.side),
          .flags = m.flags,
          .ts_in_delta = m.ts_in_delta,
          .level = level_of(m.levels[0])};
}

ConsolidatedQuote quote_of(const CbboMsg& m, std::chrono::nanoseconds span) {
  return {.instrument = key_of(m.hd),
          .ts_event = time_of(m.hd.ts_event),
          .ts_recv = time_of(m.ts_recv),
          .span = span,
          .price = {m.price},
          .size = stated_size(m.size),
          .side = side_of(m.side),
          .flags = m.flags,
          .level = level_of(m.levels[0])};
}

Statistic statistic_of(const StatMsg& m) {
  Statistic s{.instrument = key_of(m.hd),
              .ts_event = time_of(m.hd.ts_event),
              .ts_recv = time_of(m.ts_recv),
              .ts_ref = time_of(m.ts_ref),
              .price = {m.price},
              .type = m.stat_type,
              .channel_id = m.channel_id,
              .update_action = m.update_action,
              .flags = m.stat_flags,
              .sequence = m.sequence,
              .ts_in_delta = m.ts_in_delta};
  if (m.quantity != std::numeric_limits<std::int64_t>::max()) s.quantity = m.quantity;
  return s;
}

Status status_of(const StatusMsg& m) {
  return {.instrument = key_of(m.hd),
          .ts_event = time_of(m.hd.ts_event),
          .ts_recv = time_of(m.ts_recv),
          .action = m.action,
          .reason = m.reason,
          .trading_event = m.trading_event,
          .is_trading = yes_or_no(m.is_trading),
          .is_quoting = yes_or_no(m.is_quoting),
          .is_short_sell_restricted = yes_or_no(m.is_short_sell_restricted)};
}

Imbalance imbalance_of(const ImbalanceMsg& m) {
  return {.instrument = key_of(m.hd),
          .ts_event = time_of(m.hd.ts_event),
          .ts_recv = time_of(m.ts_recv),
          .ref_price = {m.ref_price},
          .clearing_price = {m.cont_book_clr_price},
          .interest_price = {m.auct_interest_clr_price},
          .indicative_price = {m.ind_match_price},
          .paired_qty = quantity_of(m.paired_qty),
          .total_imbalance_qty = quantity_of(m.total_imbalance_qty),
          .auction_type = m.auction_type == '\0' ? '?' : m.auction_type,
          .side = side_of(m.side)};
}

SymbolMapping mapping_of(const RawRecord& r) {
  const View<RecordHeader> hd(r.bytes.data());
  return {.instrument = key_of(*hd),
          .ts_event = time_of(hd->ts_event),
          .stype_in = stype_name(load<std::uint8_t>(r.bytes, kStypeInAt)),
          .in_symbol = load_text(r.bytes, kInSymbolAt, kSymbolSize),
          .stype_out = stype_name(load<std::uint8_t>(r.bytes, kStypeOutAt)),
          .out_symbol = load_text(r.bytes, kOutSymbolAt, kSymbolSize),
          .start = time_of(load<std::uint64_t>(r.bytes, kMappingStartAt)),
          .end = time_of(load<std::uint64_t>(r.bytes, kMappingEndAt))};
}

Message message_of(const RawRecord& r) {
  const View<RecordHeader> hd(r.bytes.data());
  const bool is_error = r.rtype == rtype::kError;
  const auto code = load<std::uint8_t>(r.bytes, is_error ? kErrorCodeAt : kSystemCodeAt);
  return {.instrument = key_of(*hd),
          .ts_event = time_of(hd->ts_event),
          .is_error = is_error,
          .code = code == kUnsetCode ? std::nullopt : std::optional(code),
          .text = load_text(r.bytes, kTextAt, is_error ? kErrorSize : kSystemSize)};
}

}  // namespace

ValueDecoder::ValueDecoder(std::string_view schema) {
  if (const auto bars = dbn_bar_rtype(schema)) schema_span_ = dbn_bar_span(*bars);
}

bool ValueDecoder::decode(const RawRecord& record, Record& value) {
  switch (record.rtype) {
    case rtype::kTrades:
      value = decode_trade(record.bytes);
      return true;
    case rtype::kMbp1:
      value = decode_top_of_book(record.bytes);
      return true;
    case rtype::kMbo:
      value = decode_order_event(record.bytes);
      return true;
    case rtype::kDefinition:
      value = decode_definition(record.bytes, record.version);
      return true;
    default:
      break;
  }
  auto span = dbn_bar_span(record.rtype);
  if (record.rtype == rtype::kOhlcvOld) span = schema_span_;
  if (!span) return decode_newest(upgrade_(record), value);
  value = decode_bar(record.bytes, *span);
  return true;
}

bool ValueDecoder::decode_newest(const RawRecord& record, Record& value) const {
  using std::chrono::minutes;
  using std::chrono::seconds;
  switch (record.rtype) {
    case rtype::kMbp10:
      value = depth_of(*record.as<Mbp10Msg>());
      return true;
    case rtype::kBbo1s:
      value = quote_of(*record.as<BboMsg>(), seconds{1});
      return true;
    case rtype::kBbo1m:
      value = quote_of(*record.as<BboMsg>(), minutes{1});
      return true;
    case rtype::kCmbp1:
    case rtype::kTcbbo:
      value = quote_of(*record.as<Cmbp1Msg>());
      return true;
    case rtype::kCbbo1s:
      value = quote_of(*record.as<CbboMsg>(), seconds{1});
      return true;
    case rtype::kCbbo1m:
      value = quote_of(*record.as<CbboMsg>(), minutes{1});
      return true;
    case rtype::kStatistics:
      value = statistic_of(*record.as<StatMsg>());
      return true;
    case rtype::kStatus:
      value = status_of(*record.as<StatusMsg>());
      return true;
    case rtype::kImbalance:
      value = imbalance_of(*record.as<ImbalanceMsg>());
      return true;
    case rtype::kSymbolMapping:
      value = mapping_of(record);
      return true;
    case rtype::kError:
    case rtype::kSystem:
      value = message_of(record);
      return true;
    default:
      return false;
  }
}

}  // namespace foxhunt::market::dbn
