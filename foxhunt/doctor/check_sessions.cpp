// Does the file's clock fit the exchange's? A session's open and close are edges that no random
// data has: bars that stand a whole number of hours beside them are in the wrong zone, bars that
// stand one bar beside them are stamped with the other edge.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

using market::Bar;
using market::Session;
using std::chrono::hours;
using std::chrono::minutes;

/// Zones lie within 14 hours of UTC.
constexpr int kMostHours = 14;
constexpr std::size_t kShifts = 2 * kMostHours + 1;
/// Sessions begin and end on quarters of an hour.
constexpr minutes kSlot{15};
/// An hour off puts 1 of 23 hours a day outside (4 %); bad prints put far less there.
constexpr double kOutsideShare = 0.015;
/// The right shift must explain nearly all of them.
constexpr double kExplained = 0.15;
/// Edges of a stamp: most sessions must show one edge and few the other.
constexpr double kMostSessions = 0.6;
constexpr double kFewSessions = 0.2;
constexpr std::int64_t kLeastSessions = 3;
constexpr std::int64_t kLeastRecords = 200;

class SessionCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const Bar& bar) override {
    if (bar.span >= std::chrono::days{1} || is_null(bar.start)) return;
    State& state = states_[*seen.series];
    count(seen, state, bar.start);
    if (seen.series->calendar != nullptr && bar.span < hours{1}) count_edges(seen, state, bar);
  }
  void see(const Seen& seen, const market::Trade& trade) override {
    count(seen, states_[*seen.series], trade.ts_recv);
  }

  void finish(const Whole& whole) override {
    if (whole.is_event_bars) return;
    for (const auto& series : whole.series.all()) {
      State* state = states_.find(*series);
      if (state == nullptr || series->calendar == nullptr) continue;
      end_slot(*series, *state);
      const bool is_shifted = judge_zone(*state);
      if (!is_shifted) judge_stamp(*state);
    }
  }

 private:
  /// Records outside of sessions if all times were `shift` hours later; for summer and winter of
  /// Chicago apart, since a zone of fixed offset is right in one of them only.
  struct Season {
    std::int64_t records = 0;
    std::array<std::int64_t, kShifts> outside{};
    Seen first_outside{};
  };
  struct State {
    std::array<Season, 2> seasons{};
    std::chrono::sys_time<minutes> slot{};
    std::int64_t in_slot = 0;
    Seen slot_at{};
    UnixNanos open = kNullTime;  ///< of the session that bars are in
    std::int64_t sessions = 0;
    std::int64_t at_open = 0, before_open = 0, at_last = 0, at_close = 0;
    Seen before_open_at{}, at_close_at{};
  };

  void count(const Seen& seen, State& state, UnixNanos t) {
    if (seen.series->calendar == nullptr || is_null(t)) return;
    const auto slot =
        std::chrono::floor<minutes>(t) - std::chrono::floor<minutes>(t).time_since_epoch() % kSlot;
    if (slot != state.slot) {
      end_slot(*seen.series, state);
      state.slot = slot;
      state.slot_at = seen;
    }
    ++state.in_slot;
  }

  static void end_slot(const Series& series, State& state) {
    if (state.in_slot == 0) return;
    const UnixNanos from{state.slot};
    Season& season = state.seasons[is_summer(*series.calendar, from) ? 1 : 0];
    for (std::size_t k = 0; k < kShifts; ++k) {
      const auto shifted = from + hours{static_cast<int>(k) - kMostHours};
      if (series.calendar->session_at(shifted)) continue;
      if (k == kMostHours && season.outside[k] == 0) season.first_outside = state.slot_at;
      season.outside[k] += state.in_slot;
    }
    season.records += state.in_slot;
    state.in_slot = 0;
  }

  /// Sessions open at 22:00 UTC in Chicago's summer and at 23:00 in its winter.
  static bool is_summer(const market::Calendar& calendar, UnixNanos t) {
    const auto near = calendar.sessions_between(t - hours{120}, t + hours{120});
    if (near.empty()) return false;
    const auto open = near[near.size() / 2].open;
    return (open - std::chrono::floor<std::chrono::days>(open)) < hours{23};
  }

  void count_edges(const Seen& seen, State& state, const Bar& bar) {
    const market::Calendar& calendar = *seen.series->calendar;
    if (const auto session = calendar.session_at(bar.start)) {
      if (session->open != state.open) {
        state.open = session->open;
        ++state.sessions;
      }
      if (bar.start == session->open) ++state.at_open;
      if (bar.start + bar.span == session->close) ++state.at_last;
      return;
    }
    const auto before = calendar.session_at(bar.start - bar.span);
    if (before && before->close == bar.start && state.at_close++ == 0) state.at_close_at = seen;
    const auto behind = calendar.session_at(bar.start + bar.span);
    if (behind && behind->open == bar.start + bar.span && state.before_open++ == 0)
      state.before_open_at = seen;
  }

  bool judge_zone(const State& state) {
    bool found = false;
    for (std::size_t summer = 0; summer < 2; ++summer) {
      const Season& season = state.seasons[summer];
      const auto outside = static_cast<double>(season.outside[kMostHours]);
      if (season.records < kLeastRecords ||
          outside < kOutsideShare * static_cast<double>(season.records))
        continue;
      const auto best = std::ranges::min_element(season.outside);
      if (static_cast<double>(*best) > kExplained * outside) continue;
      const auto shift = static_cast<int>(best - season.outside.begin()) - kMostHours;
      findings_.add(
          RuleId::kWrongZone, season.first_outside,
          [&] {
            return fmt::format(
                "{} of {} records of Chicago's {} are outside of sessions; {} would be if all "
                "times "
                "were {} h {}",
                grouped(season.outside[kMostHours]), grouped(season.records),
                summer == 1 ? "summer" : "winter", grouped(*best), std::abs(shift),
                shift < 0 ? "earlier" : "later");
          },
          season.records);
      found = true;
    }
    return found;
  }

  void judge_stamp(const State& state) {
    if (state.sessions < kLeastSessions) return;
    const auto sessions = static_cast<double>(state.sessions);
    const auto most = [&](std::int64_t n) {
      return static_cast<double>(n) >= kMostSessions * sessions;
    };
    const auto few = [&](std::int64_t n) {
      return static_cast<double>(n) <= kFewSessions * sessions;
    };
    if (most(state.at_close) && few(state.at_open)) {
      findings_.add(
          RuleId::kWrongStamp, state.at_close_at,
          [&] {
            return fmt::format(
                "of {} sessions {} have a bar at their close and {} one at their open: the bars "
                "are "
                "stamped with their end (csv.bar_stamp = \"end\")",
                state.sessions, state.at_close, state.at_open);
          },
          state.at_close);
    } else if (most(state.before_open) && few(state.at_last)) {
      findings_.add(
          RuleId::kWrongStamp, state.before_open_at,
          [&] {
            return fmt::format(
                "of {} sessions {} have a bar before their open and {} a last one: the bars are "
                "stamped with their start (csv.bar_stamp = \"start\")",
                state.sessions, state.before_open, state.at_last);
          },
          state.before_open);
    }
  }

  PerSeries<State> states_;
};

}  // namespace

std::unique_ptr<Check> make_session_check(Findings& findings) {
  return std::make_unique<SessionCheck>(findings);
}

}  // namespace foxhunt::doctor
