#include "foxhunt/market/inspect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

#include "foxhunt/market/calendar.h"
#include "foxhunt/market/calendar_set.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::market {
namespace {

using std::chrono::nanoseconds;
using std::chrono::sys_days;

/// What is remembered of one symbol while its records pass.
struct SymbolState {
  SymbolReport report;
  const Calendar* calendar = nullptr;  ///< null: no hours to hold it against
  std::optional<Session> session;      ///< the newest one
  SessionReport now;
  std::optional<Bar> last_bar;
  UnixNanos last_end = kNullTime;  ///< of the newest bar inside a session
  nanoseconds span{};
};

/// Bars that fit between two times of a session, the halt left out.
std::int64_t slots(const Session& session, UnixNanos from, UnixNanos to, nanoseconds span) {
  if (from >= to) return 0;
  const UnixNanos halt_from = std::max(from, session.halt_start);
  const UnixNanos halt_to = std::min(to, session.halt_end);
  const nanoseconds halted = halt_from < halt_to ? halt_to - halt_from : nanoseconds{0};
  return (to - from - halted) / span;
}

bool is_bad_ohlc(const Bar& bar) {
  const auto [low, high] =
      std::minmax({bar.open.nano, bar.high.nano, bar.low.nano, bar.close.nano});
  return bar.low.nano != low || bar.high.nano != high;
}

bool has_null_price(const Bar& bar) {
  return bar.open.is_null() || bar.high.is_null() || bar.low.is_null() || bar.close.is_null();
}

bool same_values(const Bar& a, const Bar& b) {
  return a.open == b.open && a.high == b.high && a.low == b.low && a.close == b.close &&
         a.volume == b.volume;
}

/// Such records carry the time of the gateway that sent them, not the market's.
bool is_of_gateway(const Record& record) {
  return std::holds_alternative<SymbolMapping>(record) || std::holds_alternative<Message>(record);
}

class Inspector {
 public:
  Inspector(Reader& reader, const InspectOptions& options) : reader_(reader), options_(options) {
    if (!options.product.empty())
      calendars_.at(options.product);  // an unknown one is an error at once
  }

  Inspection run() {
    while (const Record* record = reader_.next()) {
      const UnixNanos t = index_time(*record);
      SymbolState& state = state_of(*record, t);
      if (!result_.first) {
        result_.first = *record;
        result_.first_symbol = state.report.symbol;
      }
      result_.last = *record;
      last_state_ = &state;
      if (!is_of_gateway(*record)) check_time(t);
      ++state.report.records;
      if (is_null(state.report.first)) state.report.first = t;
      state.report.last = std::max(state.report.last, t);
      std::visit([&](const auto& value) { check(state, value); }, *record);
    }
    finish();
    return std::move(result_);
  }

 private:
  /// By instrument and UTC date, since an id may mean another symbol tomorrow.
  SymbolState& state_of(const Record& record, UnixNanos t) {
    const InstrumentKey key = instrument_of(record);
    const sys_days day = is_null(t) ? sys_days{} : std::chrono::floor<std::chrono::days>(t);
    Known& known = known_[std::uint64_t{key.publisher_id} << 32 | key.instrument_id];
    if (known.state == nullptr || known.day != day) {
      known.day = day;
      known.state = &state_named(symbol_name(record, key, t));
    }
    return *known.state;
  }

  std::string symbol_name(const Record& record, const InstrumentKey& key, UnixNanos t) const {
    if (const auto* definition = std::get_if<Definition>(&record)) return definition->raw_symbol;
    if (std::holds_alternative<Message>(record)) return "(gateway)";
    std::string symbol = reader_.symbol_of(key, t);
    return symbol.empty() ? fmt::format("#{}", key.instrument_id) : symbol;
  }

  SymbolState& state_named(const std::string& symbol) {
    const auto [place, is_new] = states_.try_emplace(symbol);
    SymbolState& state = place->second;
    if (is_new) {
      order_.push_back(&state);
      state.report.symbol = symbol;
      const std::string product =
          options_.product.empty() ? product_of_symbol(symbol) : options_.product;
      state.calendar = calendars_.find(product);
      if (state.calendar != nullptr) state.report.product = product;
    }
    return state;
  }

  void check_time(UnixNanos t) {
    if (is_null(t)) {
      ++result_.null_times;
      return;
    }
    if (t < last_time_) ++result_.out_of_order;
    last_time_ = t;
  }

  /// The session of `t`; counts times that lie in none.
  std::optional<Session> check_session(SymbolState& state, UnixNanos t) {
    if (state.calendar == nullptr || is_null(t)) return std::nullopt;
    auto session = state.calendar->session_at(t);
    if (!session) ++state.report.outside_sessions;
    if (session && session->halted_at(t)) ++state.report.in_halt;
    return session;
  }

  void check(SymbolState& state, const Bar& bar) {
    state.report.volume += bar.volume;
    if (has_null_price(bar)) {
      ++result_.null_prices;
    } else if (is_bad_ohlc(bar)) {
      ++result_.bad_ohlc;
    }
    if (is_null(bar.start)) return;
    // A live file may hold the second and the minute that begin together.
    if (state.last_bar && bar.start == state.last_bar->start && bar.span == state.last_bar->span) {
      ++result_.duplicates;
      if (!same_values(bar, *state.last_bar)) ++result_.conflicting;
      return;
    }
    const bool forward = !state.last_bar || bar.start > state.last_bar->start;
    if (bar.span < std::chrono::days{1}) {
      const auto session = check_session(state, bar.start);
      if (session && forward) count_gap(state, *session, bar);
    }
    if (forward) state.last_bar = bar;
  }

  void count_gap(SymbolState& state, const Session& session, const Bar& bar) {
    if (state.session && state.session->trade_date == session.trade_date) {
      state.now.missing_inside += slots(session, state.last_end, bar.start, bar.span);
    } else {
      if (state.session) {
        const auto between = state.calendar->sessions_between(state.session->close, session.open);
        state.report.sessions_without_bars += static_cast<std::int64_t>(between.size());
        end_session(state);
      }
      state.session = session;
      state.now = {.symbol = state.report.symbol,
                   .trade_date = session.trade_date,
                   .missing_at_open = slots(session, session.open, bar.start, bar.span),
                   .early_close = session.early_close};
    }
    state.span = bar.span;
    state.last_end = bar.end();
    ++state.now.bars;
  }

  void end_session(SymbolState& state) {
    state.now.missing_at_close =
        slots(*state.session, state.last_end, state.session->close, state.span);
    ++state.report.sessions;
    state.report.missing +=
        state.now.missing_at_open + state.now.missing_inside + state.now.missing_at_close;
    result_.sessions.push_back(state.now);
  }

  void check(SymbolState& state, const Trade& trade) {
    state.report.volume += trade.size;
    if (trade.price.is_null()) ++result_.null_prices;
    check_session(state, trade.ts_recv);
  }

  template <class Level>
  void check_level(const Level& level) {
    if (level.bid.is_null() || level.ask.is_null()) {
      ++result_.empty_sides;
    } else if (level.bid.nano > level.ask.nano) {
      ++result_.crossed;
    } else if (level.bid == level.ask) {
      ++result_.locked;
    }
  }

  void check(SymbolState& state, const TopOfBook& top) {
    check_level(top.level);
    check_session(state, top.ts_recv);
  }
  void check(SymbolState& state, const DepthOfBook& depth) {
    check_level(depth.levels[0]);
    check_session(state, depth.ts_recv);
  }
  void check(SymbolState& /*state*/, const Quote& quote) { check_level(quote.level); }
  void check(SymbolState& /*state*/, const ConsolidatedQuote& quote) { check_level(quote.level); }

  void check(SymbolState& state, const OrderEvent& event) {
    if (event.action == 'T') state.report.volume += event.size;
    if ((event.flags & flag::kSnapshot) == 0) check_session(state, event.ts_recv);
  }

  /// Definitions, statistics, status, imbalances, mappings and messages hold nothing to check here.
  template <class Other>
  void check(SymbolState& /*state*/, const Other& /*value*/) {}

  void finish() {
    for (SymbolState* state : order_) {
      if (state->session) end_session(*state);
      result_.symbols.push_back(state->report);
    }
    std::ranges::stable_sort(result_.sessions, {},
                             [](const SessionReport& s) { return sys_days{s.trade_date}; });
    if (last_state_ != nullptr) result_.last_symbol = last_state_->report.symbol;
    result_.info = reader_.info();
    result_.stats = reader_.stats();
    for (const auto& [rtype, n] : result_.stats.by_rtype) result_.records += n;
    add_notes();
  }

  void add_notes() {
    auto& notes = result_.notes;
    if (result_.records == 0) notes.emplace_back("no records");
    std::int64_t without = 0;
    for (const SymbolReport& s : result_.symbols) without += s.product.empty() ? 1 : 0;
    if (without > 0) {
      notes.push_back(fmt::format(
          "{} of {} symbols are not held against trading hours: their product is not known "
          "(name one to use its hours)",
          without, result_.symbols.size()));
    }
    for (const auto& [product, calendar] : calendars_.all()) {
      if (!result_.first || is_null(index_time(*result_.first)) || is_null(last_time_)) continue;
      if (utc_date(index_time(*result_.first)) >= calendar.holidays_from() &&
          utc_date(last_time_) <= calendar.holidays_until()) {
        continue;
      }
      notes.push_back(fmt::format(
          "the calendar of {} lists holidays from {} to {} only; outside, weekly hours are "
          "all it knows",
          product, to_string(calendar.holidays_from()), to_string(calendar.holidays_until())));
    }
  }

  struct Known {
    SymbolState* state = nullptr;
    sys_days day{};
  };

  Reader& reader_;
  const InspectOptions& options_;
  Inspection result_;
  std::unordered_map<std::uint64_t, Known> known_;
  std::map<std::string, SymbolState> states_;  ///< nodes stay where they are
  std::vector<SymbolState*> order_;
  CalendarSet calendars_;
  SymbolState* last_state_ = nullptr;
  UnixNanos last_time_ = kNullTime;
};

}  // namespace

bool Inspection::has_errors() const {
  return null_times != 0 || out_of_order != 0 || duplicates != 0 || bad_ohlc != 0 ||
         null_prices != 0 || crossed != 0 || stats.truncated || stats.rest_bytes != 0;
}

Inspection inspect(Reader& reader, const InspectOptions& options) {
  return Inspector(reader, options).run();
}

}  // namespace foxhunt::market
