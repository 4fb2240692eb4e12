// The file as a whole: its container, what it says about itself, gaps against the calendar.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

/// Names, at most five of them.
std::string names(const std::vector<std::string>& list) {
  const auto n = std::min<std::ptrdiff_t>(5, std::ssize(list));
  std::string text = fmt::format("{}", fmt::join(list.begin(), list.begin() + n, ", "));
  if (std::ssize(list) > n) text += fmt::format(" and {} more", std::ssize(list) - n);
  return text;
}

class FileCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const market::Bar& bar) override { note(seen, bar.close); }
  void see(const Seen& seen, const market::Trade& trade) override { note(seen, trade.price); }
  void see(const Seen& seen, const market::TopOfBook& /*top*/) override { note(seen, {}); }
  void see(const Seen& seen, const market::OrderEvent& /*event*/) override { note(seen, {}); }

  void finish(const Whole& whole) override {
    container(whole.inspection);
    symbols(whole);
    contracts(whole);
    if (!whole.is_event_bars) gaps(whole.inspection);
  }

 private:
  struct State {
    std::int64_t records = 0;
    Seen first{};
    UnixNanos last = kNullTime;
    Price first_price{}, last_price{};
  };

  void note(const Seen& seen, Price price) {
    State& state = states_[*seen.series];
    if (state.records++ == 0) {
      state.first = seen;
      state.first_price = price;
    }
    state.last = std::max(state.last, seen.time);
    state.last_price = price;
  }

  void container(const market::Inspection& i) {
    if (i.stats.truncated || i.stats.rest_bytes != 0) {
      findings_.add_whole(
          RuleId::kTruncated, 1,
          fmt::format("{} bytes behind the last whole record", grouped(i.stats.rest_bytes)));
    }
    if (i.records == 0 && !i.first) findings_.add_whole(RuleId::kEmpty, 1, "no records");
    std::int64_t unknown = 0;
    std::int64_t counted = 0;
    std::string unknown_text;
    std::string counted_text;
    for (const auto& [rtype, n] : i.stats.skipped_by_rtype) {
      const bool is_unknown = market::rtype_name(rtype) == "unknown";
      (is_unknown ? unknown : counted) += n;
      (is_unknown ? unknown_text : counted_text) +=
          fmt::format("{}{} of type {} ({})", (is_unknown ? unknown : counted) == n ? "" : ", ",
                      grouped(n), rtype, market::rtype_name(rtype));
    }
    if (unknown > 0) findings_.add_whole(RuleId::kUnknownType, unknown, unknown_text);
    if (counted > 0) findings_.add_whole(RuleId::kNotChecked, counted, counted_text);
  }

  void symbols(const Whole& whole) {
    const market::StreamInfo& info = whole.inspection.info;
    if (!info.partial.empty()) {
      findings_.add_whole(RuleId::kPartialSymbols, std::ssize(info.partial), names(info.partial));
    }
    if (!info.not_found.empty()) {
      findings_.add_whole(RuleId::kMissingSymbols, std::ssize(info.not_found),
                          names(info.not_found));
    }
    std::int64_t unmapped = 0;
    std::string example;
    for (const auto& series : whole.series.all()) {
      const State* state = states_.find(*series);
      if (state == nullptr || !whole.series.is_unmapped(*series)) continue;
      if (unmapped == 0) example = "instrument " + series->symbol;
      unmapped += state->records;
    }
    if (unmapped > 0) findings_.add_whole(RuleId::kUnmappedId, unmapped, example);
    id_reuse(info);
  }

  /// Ids that were two instruments. Names of one contract (ES.c.0 beside ESH1) begin on the same
  /// day and are no reuse.
  void id_reuse(const market::StreamInfo& info) {
    std::map<std::uint32_t, const market::SymbolInterval*> first;
    std::set<std::uint32_t> reused;
    std::string example;
    for (const market::SymbolInterval& interval : info.mappings) {
      const auto [place, is_new] = first.try_emplace(interval.instrument_id, &interval);
      const market::SymbolInterval& other = *place->second;
      if (is_new || other.raw_symbol == interval.raw_symbol ||
          (interval.start < other.end && other.start < interval.end))
        continue;
      if (reused.empty()) {
        example = fmt::format("{} was {} from {} and {} from {}", interval.instrument_id,
                              other.raw_symbol, to_string(other.start), interval.raw_symbol,
                              to_string(interval.start));
      }
      reused.insert(interval.instrument_id);
    }
    if (!reused.empty()) findings_.add_whole(RuleId::kIdReuse, std::ssize(reused), example);
  }

  /// Outrights of one product beside its spreads or beside each other, or one after the other.
  void contracts(const Whole& whole) {
    std::map<std::string, std::vector<const Series*>> outrights;
    std::vector<std::string> spreads;
    for (const auto& series : whole.series.all()) {
      if (states_.find(*series) == nullptr) continue;
      if (series->is_spread) {
        spreads.push_back(series->symbol);
      } else if (!series->product.empty()) {
        outrights[series->product].push_back(series.get());
      }
    }
    for (auto& [product, list] : outrights) {
      std::ranges::stable_sort(list, {}, [&](const Series* s) { return states_[*s].first.time; });
      std::vector<std::string> mixed;
      for (std::size_t i = 1; i < list.size(); ++i) {
        if (states_[*list[i]].first.time > states_[*list[i - 1]].last) continue;
        if (mixed.empty()) mixed.push_back(list[i - 1]->symbol);
        mixed.push_back(list[i]->symbol);
      }
      if (mixed.empty()) rolls(list);
      if (mixed.empty() && spreads.empty()) continue;
      if (mixed.empty()) mixed.push_back(list[0]->symbol);
      findings_.add_whole(RuleId::kMixedContracts, std::ssize(mixed) + std::ssize(spreads),
                          fmt::format("{}: contracts {}{}{}", product, names(mixed),
                                      spreads.empty() ? "" : "; spreads ", names(spreads)));
    }
  }

  void rolls(const std::vector<const Series*>& list) {
    for (std::size_t i = 1; i < list.size(); ++i) {
      const State& before = states_[*list[i - 1]];
      const State& state = states_[*list[i]];
      findings_.add(RuleId::kRoll, state.first, [&] {
        return fmt::format("from {} at {} to {} at {}", list[i - 1]->symbol,
                           text_of(before.last_price), list[i]->symbol, text_of(state.first_price));
      });
    }
  }

  void gaps(const market::Inspection& i) {
    std::int64_t sessions = 0, absent = 0, outside = 0, halted = 0;
    for (const market::SymbolReport& symbol : i.symbols) {
      sessions += symbol.sessions;
      absent += symbol.sessions_without_bars;
      outside += symbol.outside_sessions;
      halted += symbol.in_halt;
    }
    missing_bars(i.sessions, sessions);
    if (absent > 0) {
      findings_.add_whole(RuleId::kMissingSessions, absent,
                          fmt::format("between the first and the last of {} sessions with bars",
                                      grouped(sessions)));
    }
    if (outside + halted > 0 && !is_quotes_only(i)) {
      findings_.add_whole(RuleId::kOutsideSession, outside + halted,
                          fmt::format("{} while the market was closed, {} while it was halted",
                                      grouped(outside), grouped(halted)));
    }
  }

  /// What lies before a symbol's first bar and behind its last one is not missing: there the file
  /// begins and ends.
  void missing_bars(const std::vector<market::SessionReport>& sessions, std::int64_t total) {
    std::map<std::string, std::pair<std::size_t, std::size_t>> ends;
    for (std::size_t k = 0; k < sessions.size(); ++k)
      ends.try_emplace(sessions[k].symbol, k, k).first->second.second = k;
    std::int64_t missing = 0, most = 0;
    std::string text;
    for (std::size_t k = 0; k < sessions.size(); ++k) {
      const market::SessionReport& s = sessions[k];
      const auto [first, last] = ends.at(s.symbol);
      const std::int64_t at_open = k == first ? 0 : s.missing_at_open;
      const std::int64_t at_close = k == last ? 0 : s.missing_at_close;
      const std::int64_t here = at_open + s.missing_inside + at_close;
      missing += here;
      if (here <= most) continue;
      most = here;
      text =
          fmt::format("in {} sessions; most on {}: {} at the open, {} inside, {} at the close",
                      grouped(total), to_string(s.trade_date), at_open, s.missing_inside, at_close);
    }
    if (missing > 0) findings_.add_whole(RuleId::kMissingBars, missing, text);
  }

  /// Quotes and orders come before the open, too.
  static bool is_quotes_only(const market::Inspection& i) {
    return !i.first || (!std::holds_alternative<market::Bar>(*i.first) &&
                        !std::holds_alternative<market::Trade>(*i.first));
  }

  PerSeries<State> states_;
};

}  // namespace

std::unique_ptr<Check> make_file_check(Findings& findings) {
  return std::make_unique<FileCheck>(findings);
}

}  // namespace foxhunt::doctor
