// Inspections as text and as JSON.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "foxhunt/base/json.h"
#include "foxhunt/base/number_text.h"
#include "foxhunt/market/inspect.h"

namespace foxhunt::market {
namespace {

using Json = nlohmann::ordered_json;

/// 4321.25, exactly; "null" without a price.
std::string price_text(Price price) { return price.is_null() ? "null" : decimal_text(price); }

Json json_of(Price price) { return price.is_null() ? Json() : Json(price_text(price)); }
Json json_of(UnixNanos t) { return is_null(t) ? Json() : Json(to_string(t)); }

struct RecordJson {
  Json operator()(const Bar& bar) const {
    return {{"type", "bar"},
            {"seconds", std::chrono::floor<std::chrono::seconds>(bar.span).count()},
            {"open", json_of(bar.open)},
            {"high", json_of(bar.high)},
            {"low", json_of(bar.low)},
            {"close", json_of(bar.close)},
            {"volume", bar.volume}};
  }
  Json operator()(const Trade& trade) const {
    return {{"type", "trade"},
            {"price", json_of(trade.price)},
            {"size", trade.size},
            {"side", std::string(1, static_cast<char>(trade.side))}};
  }
  template <class Level>
  static Json level_json(std::string_view type, const Level& level) {
    return {{"type", type},
            {"bid", json_of(level.bid)},
            {"ask", json_of(level.ask)},
            {"bid_size", level.bid_size},
            {"ask_size", level.ask_size}};
  }
  Json operator()(const TopOfBook& top) const { return level_json("top_of_book", top.level); }
  Json operator()(const DepthOfBook& d) const { return level_json("depth_of_book", d.levels[0]); }
  Json operator()(const Quote& quote) const { return level_json("quote", quote.level); }
  Json operator()(const ConsolidatedQuote& quote) const {
    return level_json("consolidated_quote", quote.level);
  }
  Json operator()(const OrderEvent& event) const {
    return {{"type", "order_event"},
            {"action", std::string(1, event.action)},
            {"side", std::string(1, static_cast<char>(event.side))},
            {"price", json_of(event.price)},
            {"size", event.size}};
  }
  Json operator()(const Definition& d) const {
    return {{"type", "definition"},
            {"tick", json_of(d.min_price_increment)},
            {"expiration", d.expiration ? json_of(*d.expiration) : Json()}};
  }
  Json operator()(const Statistic& s) const {
    return {{"type", "statistic"},
            {"stat_type", s.type},
            {"price", json_of(s.price)},
            {"quantity", s.quantity ? Json(*s.quantity) : Json()}};
  }
  Json operator()(const Status& s) const {
    return {{"type", "status"}, {"action", s.action}, {"reason", s.reason}};
  }
  Json operator()(const Imbalance& i) const {
    return {{"type", "imbalance"},
            {"ref_price", json_of(i.ref_price)},
            {"side", std::string(1, static_cast<char>(i.side))}};
  }
  Json operator()(const SymbolMapping& m) const {
    return {{"type", "symbol_mapping"}, {"in", m.in_symbol}, {"out", m.out_symbol}};
  }
  Json operator()(const Message& m) const {
    return {{"type", m.is_error ? "error" : "system"}, {"text", m.text}};
  }
};

Json record_json(const std::optional<Record>& record, const std::string& symbol) {
  if (!record) return {};
  Json json = {{"time", json_of(index_time(*record))},
               {"symbol", symbol},
               {"instrument_id", instrument_of(*record).instrument_id}};
  json.update(std::visit(RecordJson{}, *record));
  return json;
}

std::string record_text(const std::optional<Record>& record, const std::string& symbol) {
  std::string text = fmt::format("{}  {}", to_string(index_time(*record)), symbol);
  const Json values = std::visit(RecordJson{}, *record);
  for (const auto& [key, value] : values.items()) {
    text +=
        fmt::format("  {} {}", key, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

Json counts_json(const std::map<int, std::int64_t>& counts) {
  Json json = Json::object();
  for (const auto& [rtype, n] : counts) json[fmt::format("{}", rtype)] = n;
  return json;
}

Json symbol_json(const SymbolReport& s) {
  return {{"symbol", s.symbol},
          {"product", s.product.empty() ? Json() : Json(s.product)},
          {"records", s.records},
          {"first", json_of(s.first)},
          {"last", json_of(s.last)},
          {"volume", s.volume},
          {"outside_sessions", s.outside_sessions},
          {"in_halt", s.in_halt},
          {"sessions", s.sessions},
          {"sessions_without_bars", s.sessions_without_bars},
          {"missing", s.missing}};
}

Json session_json(const SessionReport& s) {
  return {{"symbol", s.symbol},
          {"trade_date", to_string(s.trade_date)},
          {"bars", s.bars},
          {"missing_at_open", s.missing_at_open},
          {"missing_inside", s.missing_inside},
          {"missing_at_close", s.missing_at_close},
          {"early_close", s.early_close}};
}

/// "name      value", one line.
std::string line(std::string_view name, const std::string& value) {
  return fmt::format("{:<12}{}\n", name, value);
}

/// Names, at most ten of them.
std::string names(const std::vector<std::string>& list) {
  constexpr std::ptrdiff_t kShown = 10;
  const auto n = std::min(kShown, std::ssize(list));
  std::string text = fmt::format("{}", fmt::join(list.begin(), list.begin() + n, ", "));
  if (std::ssize(list) > n) text += fmt::format(" and {} more", std::ssize(list) - n);
  return text;
}

std::string heading_text(const Inspection& i) {
  const StreamInfo& info = i.info;
  std::string text =
      line("format", info.version != 0 ? fmt::format("{} version {}", info.format, info.version)
                                       : info.format);
  if (!info.dataset.empty()) text += line("dataset", info.dataset);
  text += line("schema", info.schema);
  if (!info.symbols.empty()) text += line("symbols", names(info.symbols));
  if (!info.partial.empty())
    text += line("partial", names(info.partial) + " (not there on every day)");
  if (!info.not_found.empty()) text += line("not found", names(info.not_found));
  text += line("range", fmt::format("{} to {}", is_null(info.start) ? "?" : to_string(info.start),
                                    is_null(info.end) ? "?" : to_string(info.end)));
  text += line("records", grouped(i.records));
  for (const auto& [rtype, n] : i.stats.by_rtype) {
    const bool skipped = i.stats.skipped_by_rtype.contains(rtype);
    text += fmt::format("  {:<20}{:>14}{}\n", fmt::format("{} ({})", rtype_name(rtype), rtype),
                        grouped(n), skipped ? "  counted only" : "");
  }
  if (i.first) {
    text += line("first", record_text(i.first, i.first_symbol));
    text += line("last", record_text(i.last, i.last_symbol));
  }
  return text;
}

std::string checks_text(const Inspection& i) {
  std::string text;
  const auto add = [&text](std::string_view name, std::int64_t n) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", grouped(n), name);
  };
  add("out of order", i.out_of_order);
  add("duplicate times", i.duplicates);
  if (i.duplicates > 0) text += fmt::format(" ({} with other values)", grouped(i.conflicting));
  add("bad OHLC", i.bad_ohlc);
  add("null prices", i.null_prices);
  if (i.null_times > 0) add("without time", i.null_times);
  if (i.crossed + i.locked + i.empty_sides > 0) {
    add("crossed", i.crossed);
    add("locked", i.locked);
    add("with an empty side", i.empty_sides);
  }
  std::string result = line("checks", text);
  if (i.stats.truncated || i.stats.rest_bytes > 0) {
    result += line("truncated", fmt::format("yes, {} bytes behind the last whole record",
                                            grouped(i.stats.rest_bytes)));
  }
  return result;
}

std::string symbols_text(const Inspection& i) {
  constexpr std::size_t kShown = 20;
  if (i.symbols.empty()) return "";
  std::string text =
      fmt::format("\n{:<14}{:<8}{:>12}{:>16}{:>10}{:>9}{:>10}{:>8}{:>8}\n", "symbol", "hours",
                  "records", "volume", "sessions", "absent", "missing", "closed", "halt");
  for (std::size_t k = 0; k < std::min(kShown, i.symbols.size()); ++k) {
    const SymbolReport& s = i.symbols[k];
    text += fmt::format("{:<14}{:<8}{:>12}{:>16}{:>10}{:>9}{:>10}{:>8}{:>8}\n", s.symbol,
                        s.product.empty() ? "-" : s.product, grouped(s.records),
                        grouped(static_cast<std::int64_t>(s.volume)), grouped(s.sessions),
                        grouped(s.sessions_without_bars), grouped(s.missing),
                        grouped(s.outside_sessions), grouped(s.in_halt));
  }
  if (i.symbols.size() > kShown)
    text += fmt::format("… {} more symbols (--json has all)\n", i.symbols.size() - kShown);
  return text;
}

std::string sessions_text(const Inspection& i, std::size_t max_sessions) {
  if (i.sessions.empty()) return "";
  std::string text = fmt::format("\n{:<12}{:<14}{:>7}   missing: {:>7}{:>9}{:>10}\n", "trade date",
                                 "symbol", "bars", "at open", "inside", "at close");
  for (std::size_t k = 0; k < std::min(max_sessions, i.sessions.size()); ++k) {
    const SessionReport& s = i.sessions[k];
    text += fmt::format("{:<12}{:<14}{:>7}{:>19}{:>9}{:>10}{}\n", to_string(s.trade_date), s.symbol,
                        s.bars, s.missing_at_open, s.missing_inside, s.missing_at_close,
                        s.early_close ? "  early close" : "");
  }
  if (i.sessions.size() > max_sessions) {
    text += fmt::format("… {} more sessions (--json has all)\n", i.sessions.size() - max_sessions);
  }
  return text;
}

}  // namespace

std::string to_text(const Inspection& inspection, std::size_t max_sessions) {
  std::string text = heading_text(inspection);
  if (inspection.first) text += checks_text(inspection);
  for (const std::string& note : inspection.notes) text += line("note", note);
  return text + symbols_text(inspection) + sessions_text(inspection, max_sessions);
}

std::string to_json(const Inspection& i) {
  Json names_of = Json::object();
  for (const auto& [rtype, n] : i.stats.by_rtype)
    names_of[fmt::format("{}", rtype)] = std::string(rtype_name(rtype));
  Json symbols = Json::array();
  for (const SymbolReport& s : i.symbols) symbols.push_back(symbol_json(s));
  Json sessions = Json::array();
  for (const SessionReport& s : i.sessions) sessions.push_back(session_json(s));
  const Json json = {{"format", i.info.format},
                     {"version", i.info.version},
                     {"dataset", i.info.dataset},
                     {"schema", i.info.schema},
                     {"stype_in", i.info.stype_in},
                     {"stype_out", i.info.stype_out},
                     {"symbols", i.info.symbols},
                     {"partial", i.info.partial},
                     {"not_found", i.info.not_found},
                     {"start", json_of(i.info.start)},
                     {"end", json_of(i.info.end)},
                     {"records", i.records},
                     {"by_rtype", counts_json(i.stats.by_rtype)},
                     {"rtype_names", names_of},
                     {"skipped_by_rtype", counts_json(i.stats.skipped_by_rtype)},
                     {"first", record_json(i.first, i.first_symbol)},
                     {"last", record_json(i.last, i.last_symbol)},
                     {"bytes", i.stats.bytes},
                     {"frames", i.stats.frames},
                     {"truncated", i.stats.truncated},
                     {"rest_bytes", i.stats.rest_bytes},
                     {"null_times", i.null_times},
                     {"out_of_order", i.out_of_order},
                     {"duplicates", i.duplicates},
                     {"conflicting", i.conflicting},
                     {"bad_ohlc", i.bad_ohlc},
                     {"null_prices", i.null_prices},
                     {"empty_sides", i.empty_sides},
                     {"crossed", i.crossed},
                     {"locked", i.locked},
                     {"has_errors", i.has_errors()},
                     {"by_symbol", symbols},
                     {"sessions", sessions},
                     {"notes", i.notes}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

}  // namespace foxhunt::market
