#include "foxhunt/market/csv_record.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/base/nearest.h"
#include "foxhunt/market/csv_values.h"
#include "foxhunt/market/dbn_records.h"

namespace foxhunt::market {
namespace {

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

constexpr std::string_view kUndefinedTime = "18446744073709551615";  // 2^64-1

}  // namespace

CsvRecordParser::CsvRecordParser(const CsvRows& rows, const CsvFormat& format)
    : time_parser_(format.time_format, format.time_zone), nanos_parser_("unix_ns", "UTC") {
  if (format.bar_stamp != "start" && format.bar_stamp != "end") {
    throw ConfigError(fmt::format("[csv] bar_stamp = '{}' must be start or end", format.bar_stamp));
  }
  if (format.bar_seconds < 1) {
    throw ConfigError(fmt::format("[csv] bar_seconds = {} must be 1 or more", format.bar_seconds));
  }
  stamp_is_end_ = format.bar_stamp == "end";
  bar_span_ = std::chrono::seconds{format.bar_seconds};
  for (const CsvField& field : rows.fields()) {
    if (std::ranges::any_of(field.text, [](char c) { return c >= 0 && c < ' '; }) &&
        format.delimiter == ",") {
      const bool tabs = field.text.find('\t') != std::string_view::npos;
      rows.fail(field.column, tabs ? "the header has tabs: set the delimiter to tab"
                                   : "not a text file: neither DBN nor CSV");
    }
    std::string name = lower(field.text);
    if (!name.empty() && std::ranges::find(header_, name) != header_.end()) {
      rows.fail(field.column, fmt::format("the header has two columns '{}'", name));
    }
    header_.push_back(std::move(name));
  }
  find_kind(rows);
  find_columns(rows, format);
  if (!format.symbol.empty() && has_symbol()) {
    throw ConfigError(fmt::format("[csv] symbol = '{}', but {} has a column symbol of its own",
                                  format.symbol, rows.source().name()));
  }
}

CsvRecordParser::Column CsvRecordParser::find(std::string_view name) const {
  Column column{.name = lower(name)};
  const auto found = std::ranges::find(header_, column.name);
  if (found != header_.end()) column.index = static_cast<std::size_t>(found - header_.begin());
  return column;
}

CsvRecordParser::Column CsvRecordParser::need(const CsvRows& rows, std::string_view name,
                                              const char* hint) const {
  Column column = find(name);
  if (!column.present()) {
    const std::string nearest = nearest_name(column.name, header_);
    rows.fail(1, fmt::format("no column '{}'{}; the header has {}{}", column.name,
                             nearest.empty() ? "" : fmt::format(" (did you mean '{}'?)", nearest),
                             fmt::join(header_, ", "), hint));
  }
  return column;
}

void CsvRecordParser::find_kind(const CsvRows& rows) {
  const auto has = [this](std::string_view name) { return find(name).present(); };
  databento_ = has("rtype");
  if (has("open") && has("high") && has("low") && has("close")) {
    kind_ = CsvKind::kBars;
    return;
  }
  if (has("order_id")) rows.fail(1, "Databento's mbo layout is not read from CSV");
  if (has("bid_px_01")) rows.fail(1, "Databento's mbp-10 layout is not read from CSV");
  if (has("bid_px_00") && !has("action"))
    rows.fail(1, "Databento's bbo layout is not read from CSV");
  if (has("price") && has("size")) {
    kind_ = has("bid_px_00") ? CsvKind::kTopOfBook : CsvKind::kTrades;
    return;
  }
  rows.fail(1, fmt::format("the header has neither bars (open, high, low, close) nor trades "
                           "(price, size); it has {}",
                           fmt::join(header_, ", ")));
}

void CsvRecordParser::find_columns(const CsvRows& rows, const CsvFormat& format) {
  time_ = need(rows, format.time_column, "; name the column with the time in csv.time_column");
  rtype_ = find("rtype");
  publisher_id_ = find("publisher_id");
  instrument_id_ = find("instrument_id");
  symbol_ = find("symbol");
  if (kind_ == CsvKind::kBars) {
    open_ = find("open");
    high_ = find("high");
    low_ = find("low");
    close_ = find("close");
    if (!format.volume_column.empty()) {
      volume_ = need(rows, format.volume_column,
                     "; name the volume in csv.volume_column, or leave that empty");
    }
    return;
  }
  ts_recv_ = find("ts_recv");
  price_ = find("price");
  size_ = find("size");
  action_ = find("action");
  side_ = find("side");
  flags_ = find("flags");
  depth_ = find("depth");
  sequence_ = find("sequence");
  ts_in_delta_ = find("ts_in_delta");
  if (kind_ != CsvKind::kTopOfBook) return;
  bid_px_ = find("bid_px_00");
  ask_px_ = need(rows, "ask_px_00", "");
  bid_sz_ = need(rows, "bid_sz_00", "");
  ask_sz_ = need(rows, "ask_sz_00", "");
  bid_ct_ = need(rows, "bid_ct_00", "");
  ask_ct_ = need(rows, "ask_ct_00", "");
}

void CsvRecordParser::refuse(const CsvRows& rows, const Column& column,
                             const std::string& rule) const {
  const CsvField& field = rows.fields()[column.index];
  rows.fail(field.column, fmt::format("{} = '{}' {}", column.name, field.text.substr(0, 60), rule));
}

Price CsvRecordParser::price(const CsvRows& rows, Column& column) {
  const std::string_view text = rows.fields()[column.index].text;
  if (text.empty()) return Price::null();
  const bool decimal = !databento_ || text.find('.') != std::string_view::npos;
  const Style style = decimal ? Style::kPretty : Style::kRaw;
  if (column.style == Style::kUnknown) column.style = style;
  if (column.style != style) {
    refuse(rows, column,
           decimal ? "has decimals, but the column began with whole numbers of 1e-9"
                   : "has no decimals, but the column began with decimal prices");
  }
  Price result;
  const std::string rule =
      decimal ? parse_decimal_price(text, result) : parse_nano_price(text, result);
  if (!rule.empty()) refuse(rows, column, rule);
  return result;
}

UnixNanos CsvRecordParser::time(const CsvRows& rows, Column& column) {
  const std::string_view text = rows.fields()[column.index].text;
  if (text.empty() || text == kUndefinedTime) return kNullTime;
  const bool raw =
      databento_ && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  const Style style = raw ? Style::kRaw : Style::kPretty;
  if (column.style == Style::kUnknown) column.style = style;
  if (column.style != style) refuse(rows, column, "has another form than the column's first time");
  UnixNanos result{};
  const std::string rule = (raw ? nanos_parser_ : time_parser_).parse(text, result);
  if (!rule.empty()) refuse(rows, column, rule);
  return result;
}

std::uint64_t CsvRecordParser::count(const CsvRows& rows, const Column& column,
                                     std::uint64_t max) const {
  if (!column.present()) return 0;
  std::uint64_t value = 0;
  const std::string rule = parse_unsigned(rows.fields()[column.index].text, max, value);
  if (!rule.empty()) refuse(rows, column, rule);
  return value;
}

char CsvRecordParser::letter(const CsvRows& rows, const Column& column,
                             std::string_view allowed) const {
  if (!column.present()) return 'N';
  const std::string_view text = rows.fields()[column.index].text;
  if (text.size() != 1 || allowed.find(text[0]) == std::string_view::npos) {
    refuse(rows, column, fmt::format("is none of the letters {}", allowed));
  }
  return text[0];
}

InstrumentKey CsvRecordParser::instrument(const CsvRows& rows) const {
  return {.publisher_id = static_cast<std::uint16_t>(count(rows, publisher_id_, 0xFFFF)),
          .instrument_id = static_cast<std::uint32_t>(count(rows, instrument_id_, 0xFFFF'FFFF))};
}

void CsvRecordParser::parse_bar(const CsvRows& rows, Bar& bar) {
  bar.instrument = instrument(rows);
  bar.span = bar_span_;
  if (rtype_.present()) {
    const int type = static_cast<int>(count(rows, rtype_, 0xFF));
    if (const auto span = dbn_bar_span(type)) {
      bar.span = *span;
    } else if (type != rtype::kOhlcvOld) {  // those do not say their length
      refuse(rows, rtype_, "is no bar (17 or 32 to 36)");
    }
  }
  bar.start = time(rows, time_);
  if (is_null(bar.start)) refuse(rows, time_, "is no time, which a bar must have");
  if (stamp_is_end_) bar.start -= bar.span;
  bar.open = price(rows, open_);
  bar.high = price(rows, high_);
  bar.low = price(rows, low_);
  bar.close = price(rows, close_);
  bar.volume = count(rows, volume_, std::numeric_limits<std::uint64_t>::max());
}

void CsvRecordParser::parse_trade(const CsvRows& rows, Trade& trade) {
  trade.instrument = instrument(rows);
  trade.ts_event = time(rows, time_);
  trade.ts_recv = ts_recv_.present() ? time(rows, ts_recv_) : trade.ts_event;
  if (is_null(trade.ts_recv)) {
    refuse(rows, ts_recv_.present() ? ts_recv_ : time_, "is no time, which orders the file");
  }
  trade.price = price(rows, price_);
  trade.size = static_cast<std::uint32_t>(count(rows, size_, 0xFFFF'FFFF));
  trade.depth = static_cast<std::uint8_t>(count(rows, depth_, 0xFF));
  trade.side = Side{letter(rows, side_, "ABN")};
  trade.flags = static_cast<std::uint8_t>(count(rows, flags_, 0xFF));
  trade.sequence = static_cast<std::uint32_t>(count(rows, sequence_, 0xFFFF'FFFF));
  trade.ts_in_delta = 0;
  if (ts_in_delta_.present()) {
    std::int64_t delta = 0;
    const std::string rule = parse_signed(rows.fields()[ts_in_delta_.index].text,
                                          std::numeric_limits<std::int32_t>::min(),
                                          std::numeric_limits<std::int32_t>::max(), delta);
    if (!rule.empty()) refuse(rows, ts_in_delta_, rule);
    trade.ts_in_delta = static_cast<std::int32_t>(delta);
  }
}

void CsvRecordParser::parse_top(const CsvRows& rows, TopOfBook& top) {
  const auto size = [&](const Column& column) {
    return static_cast<std::uint32_t>(count(rows, column, 0xFFFF'FFFF));
  };
  top.action = letter(rows, action_, "ACMTRFN");
  Trade head;
  parse_trade(rows, head);
  top.instrument = head.instrument;
  top.ts_event = head.ts_event;
  top.ts_recv = head.ts_recv;
  top.price = head.price;
  top.size = head.size;
  top.side = head.side;
  top.flags = head.flags;
  top.sequence = head.sequence;
  top.ts_in_delta = head.ts_in_delta;
  top.depth = head.depth;
  top.level = {.bid = price(rows, bid_px_),
               .ask = price(rows, ask_px_),
               .bid_size = size(bid_sz_),
               .ask_size = size(ask_sz_),
               .bid_count = size(bid_ct_),
               .ask_count = size(ask_ct_)};
}

void CsvRecordParser::parse(const CsvRows& rows, Record& out) {
  if (rows.fields().size() != header_.size()) {
    rows.fail(1, fmt::format("the row has {} fields, the header {}", rows.fields().size(),
                             header_.size()));
  }
  switch (kind_) {
    case CsvKind::kBars:
      return parse_bar(rows, out.emplace<Bar>());
    case CsvKind::kTrades:
      if (action_.present()) letter(rows, action_, "T");
      return parse_trade(rows, out.emplace<Trade>());
    case CsvKind::kTopOfBook:
      return parse_top(rows, out.emplace<TopOfBook>());
  }
}

}  // namespace foxhunt::market
