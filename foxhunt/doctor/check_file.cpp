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

  void see(const Seen& seen, const market::Bar& /*bar*/) override { note(seen); }
  void see(const Seen& seen, const market::Trade& /*trade*/) override { note(seen); }
  void see(const Seen& seen, const market::TopOfBook& /*top*/) override { note(seen); }
  void see(const Seen& seen, const market::OrderEvent& /*event*/) override { note(seen); }

  void finish(const Whole& whole) override {
    container(whole.inspection);
    symbols(whole);
    contracts(whole);
    if (!whole.is_event_bars) gaps(whole.inspection);
  }

 private:
  void note(const Seen& seen) {
    if (seen.series->index >= records_.size()) records_.resize(seen.series->index + 1);
    ++records_[seen.series->index];
  }

  void container(const market::Inspection& i) {
    if (i.stats.truncated || i.stats.rest_bytes != 0) {
      findings_.add_whole(RuleId::kTruncated, 1,
                          fmt::format("{} bytes behind the last whole record",
                                      grouped(i.stats.rest_bytes)));
    }
    if (i.records == 0) findings_.add_whole(RuleId::kEmpty, 1, "no records");
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
      if (series->index >= records_.size() || !whole.series.is_unmapped(*series)) continue;
      if (unmapped == 0) example = "instrument " + series->symbol;
      unmapped += records_[series->index];
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

  /// Outrights of one product beside its spreads, or beside each other.
  void contracts(const Whole& whole) {
    std::map<std::string, std::vector<std::string>> outrights;
    std::vector<std::string> spreads;
    for (const auto& series : whole.series.all()) {
      if (series->index >= records_.size() || records_[series->index] == 0) continue;
      if (series->is_spread) spreads.push_back(series->symbol);
      else if (!series->product.empty()) outrights[series->product].push_back(series->symbol);
    }
    for (const auto& [product, list] : outrights) {
      if (list.size() + spreads.size() < 2) continue;
      findings_.add_whole(
          RuleId::kMixedContracts, std::ssize(list) + std::ssize(spreads),
          fmt::format("{}: contracts {}{}{}", product, names(list),
                      spreads.empty() ? "" : "; spreads ", names(spreads)));
    }
  }

  void gaps(const market::Inspection& i) {
    std::int64_t missing = 0, sessions = 0, absent = 0, outside = 0, halted = 0;
    std::string where;
    for (const market::SymbolReport& symbol : i.symbols) {
      missing += symbol.missing;
      sessions += symbol.sessions;
      absent += symbol.sessions_without_bars;
      outside += symbol.outside_sessions;
      halted += symbol.in_halt;
    }
    const auto worst = std::ranges::max_element(i.sessions, {}, [](const auto& s) {
      return s.missing_at_open + s.missing_inside + s.missing_at_close;
    });
    if (missing > 0 && worst != i.sessions.end()) {
      findings_.add_whole(
          RuleId::kMissingBars, missing,
          fmt::format("in {} sessions; most on {}: {} at the open, {} inside, {} at the close",
                      grouped(sessions), to_string(worst->trade_date), worst->missing_at_open,
                      worst->missing_inside, worst->missing_at_close));
    }
    if (absent > 0) {
      findings_.add_whole(RuleId::kMissingSessions, absent,
                          fmt::format("between the first and the last of {} sessions with bars",
                                      grouped(sessions)));
    }
    if (outside + halted > 0 && !is_quotes_only(i)) {
      findings_.add_whole(
          RuleId::kOutsideSession, outside + halted,
          fmt::format("{} while the market was closed, {} while it was halted", grouped(outside),
                      grouped(halted)));
    }
  }

  /// Quotes and orders come before the open, too.
  static bool is_quotes_only(const market::Inspection& i) {
    return !i.first || (!std::holds_alternative<market::Bar>(*i.first) &&
                        !std::holds_alternative<market::Trade>(*i.first));
  }

  std::vector<std::int64_t> records_;  ///< by series
};

}  // namespace

std::unique_ptr<Check> make_file_check(Findings& findings) {
  return std::make_unique<FileCheck>(findings);
}

}  // namespace foxhunt::doctor
