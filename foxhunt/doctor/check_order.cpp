// Times: none, steps back, equal stamps, received before it happened, sequence numbers that fall.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "foxhunt/doctor/check.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

/// Sequence numbers begin anew with the venue's week; within an hour they never fall.
constexpr std::chrono::hours kSequenceReset{1};

bool same_values(const market::Bar& a, const market::Bar& b) {
  return a.open == b.open && a.high == b.high && a.low == b.low && a.close == b.close &&
         a.volume == b.volume;
}

bool same_event(const market::Trade& a, const market::Trade& b) {
  return a.ts_event == b.ts_event && a.price == b.price && a.size == b.size && a.side == b.side &&
         a.sequence == b.sequence && a.flags == b.flags && a.ts_in_delta == b.ts_in_delta;
}

bool same_event(const market::TopOfBook& a, const market::TopOfBook& b) {
  return a.ts_event == b.ts_event && a.price == b.price && a.size == b.size && a.side == b.side &&
         a.action == b.action && a.sequence == b.sequence && a.flags == b.flags &&
         a.ts_in_delta == b.ts_in_delta && a.depth == b.depth && a.level.bid == b.level.bid &&
         a.level.ask == b.level.ask && a.level.bid_size == b.level.bid_size &&
         a.level.ask_size == b.level.ask_size;
}

bool same_event(const market::OrderEvent& a, const market::OrderEvent& b) {
  return a.ts_event == b.ts_event && a.order_id == b.order_id && a.price == b.price &&
         a.size == b.size && a.side == b.side && a.action == b.action && a.sequence == b.sequence &&
         a.flags == b.flags && a.ts_in_delta == b.ts_in_delta;
}

class OrderCheck final : public Check {
 public:
  using Check::Check;
  using Check::see;

  void see(const Seen& seen, const market::Bar& bar) override {
    State& state = states_[*seen.series];
    if (!check_time(seen, state, bar.span.count())) return;
    // A live file may hold the second and the minute that begin together.
    if (state.bar && bar.start == state.bar->start && bar.span == state.bar->span) {
      const bool same = same_values(bar, *state.bar);
      findings_.add(same ? RuleId::kDuplicate : RuleId::kConflict, seen, [&] {
        return same ? "again " + text_of(bar)
                    : fmt::format("{} after {}", text_of(bar), text_of(*state.bar));
      });
    }
    state.bar = bar;
  }

  void see(const Seen& seen, const market::Trade& trade) override {
    see_event(seen, trade, states_[*seen.series].trade, 0);
  }
  void see(const Seen& seen, const market::TopOfBook& top) override {
    see_event(seen, top, states_[*seen.series].top, 1);
  }
  void see(const Seen& seen, const market::OrderEvent& event) override {
    see_event(seen, event, states_[*seen.series].order, 2);
  }

  void finish(const Whole& whole) override {
    if (!whole.is_event_bars) return;
    findings_.turn(RuleId::kDuplicate, RuleId::kEqualStamps);
    findings_.turn(RuleId::kConflict, RuleId::kEqualStamps);
  }

 private:
  /// Newest time of each kind of record: of bars by their length in ns, of
  /// trades 0, quotes 1, orders 2. A bar comes when it
  /// is over and carries its start, so that kinds have an order each.
  class Newest {
   public:
    UnixNanos& of(std::int64_t kind) {
      if (kind != kind_) {
        kind_ = kind;
        time_ = &times_.try_emplace(kind, kNullTime).first->second;
      }
      return *time_;
    }

   private:
    std::map<std::int64_t, UnixNanos> times_;
    std::int64_t kind_ = -1;
    UnixNanos* time_ = nullptr;
  };
  struct State {
    Newest newest;
    std::optional<market::Bar> bar;
    std::optional<market::Trade> trade;
    std::optional<market::TopOfBook> top;
    std::optional<market::OrderEvent> order;
    std::uint32_t sequence = 0;
    UnixNanos sequence_time = kNullTime;
  };

  /// False where the record has no place in time.
  bool check_time(const Seen& seen, State& state, std::int64_t kind) {
    if (is_null(seen.time)) {
      findings_.add(RuleId::kNoTime, seen, [] { return std::string("its time is null"); });
      return false;
    }
    UnixNanos& newest = state.newest.of(kind);
    UnixNanos& newest_of_file = newest_.of(kind);
    const bool back = seen.time < newest;
    if (back) {
      findings_.add(RuleId::kBackStep, seen, [&] {
        return fmt::format("{} after {}", to_string(seen.time), to_string(newest));
      });
    } else if (seen.time < newest_of_file) {
      findings_.add(RuleId::kFileOrder, seen, [&] {
        return fmt::format("{} after {} of another symbol", to_string(seen.time),
                           to_string(newest_of_file));
      });
    }
    newest = std::max(newest, seen.time);
    newest_of_file = std::max(newest_of_file, seen.time);
    return !back;
  }

  template <class Event>
  void see_event(const Seen& seen, const Event& event, std::optional<Event>& last,
                 std::int64_t kind) {
    State& state = states_[*seen.series];
    const bool snapshot = (event.flags & market::flag::kSnapshot) != 0;
    if (!check_time(seen, state, kind)) return;
    if (!is_null(event.ts_event) && !is_null(event.ts_recv) && event.ts_recv < event.ts_event) {
      findings_.add(RuleId::kRecvBeforeEvent, seen, [&] {
        return fmt::format("received {}, happened {}", to_string(event.ts_recv),
                           to_string(event.ts_event));
      });
    }
    if ((event.flags & market::flag::kBadTsRecv) != 0 && !snapshot) {
      findings_.add(RuleId::kBadTsRecv, seen, [] { return std::string("flag BAD_TS_RECV"); });
    }
    if ((event.flags & market::flag::kMaybeBadBook) != 0) {
      findings_.add(RuleId::kMaybeBadBook, seen, [] { return std::string("flag MAYBE_BAD_BOOK"); });
    }
    // Without sequence numbers two equal trades may well be two trades.
    if (last && event.sequence != 0 && !snapshot && event.ts_recv == last->ts_recv &&
        same_event(event, *last)) {
      findings_.add(RuleId::kDuplicate, seen,
                    [&] { return fmt::format("sequence {} again", event.sequence); });
    }
    if (!snapshot && event.sequence != 0) {
      if (event.sequence < state.sequence && seen.time - state.sequence_time < kSequenceReset) {
        findings_.add(RuleId::kSequenceBack, seen, [&] {
          return fmt::format("sequence {} after {}", event.sequence, state.sequence);
        });
      }
      state.sequence = event.sequence;
      state.sequence_time = seen.time;
    }
    last = event;
  }

  PerSeries<State> states_;
  Newest newest_;
};

}  // namespace

std::unique_ptr<Check> make_order_check(Findings& findings) {
  return std::make_unique<OrderCheck>(findings);
}

}  // namespace foxhunt::doctor
