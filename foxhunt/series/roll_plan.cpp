#include "foxhunt/series/roll_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "foxhunt/base/error.h"

namespace foxhunt::series {
namespace {

using std::chrono::days;
using std::chrono::sys_days;

std::string cycle_of(const RollConfig& config) {
  if (config.months.empty()) return config.product == "GC" ? "GJMQZ" : "HMUZ";
  for (const char c : config.months) {
    if (std::string_view("FGHJKMNQUVXZ").find(c) == std::string_view::npos) {
      throw ConfigError(fmt::format(
          "[continuous] months '{}': '{}' is no month; F G H J K M N Q U V X Z", config.months, c));
    }
  }
  return config.months;
}

/// The session after that of a trade date.
market::Session session_after(const market::Calendar& calendar, Date date) {
  const auto session = calendar.session_on(date);
  const UnixNanos from = session ? session->close : UnixNanos{sys_days{date}};
  const auto next = calendar.sessions_between(from, from + days{14});
  if (next.empty()) {
    throw DataError(fmt::format("[continuous] the calendar of {} knows no session after {}",
                                calendar.product(), to_string(date)));
  }
  return next.front();
}

/// Walks through the sessions and decides.
class Planner {
 public:
  Planner(const std::vector<ContractDays>& contracts, const RollConfig& config,
          const market::Calendar& calendar)
      : config_(config), calendar_(calendar), cycle_(cycle_of(config)) {
    if (config.days_before < 0 || config.days_before > 250) {
      throw ConfigError(
          fmt::format("[continuous] {} days before the end; 0 to 250", config.days_before));
    }
    for (const ContractDays& contract : contracts) {
      const bool in_cycle = cycle_.find(month_letter(contract.month.month)) != std::string::npos;
      if (config.rule != RollRule::kMap && !in_cycle) continue;
      contracts_.push_back(&contract);
      leave_on_.push_back(config.rule == RollRule::kMap ? Date{} : leaves_on(contract.month));
      for (const auto& [date, day] : contract.days) sessions_.insert(date);
    }
    if (contracts_.empty()) {
      throw DataError(fmt::format("[continuous] no contract of {} in the months {} has a bar",
                                  config.product, cycle_));
    }
  }

  RollPlan plan() {
    if (config_.rule == RollRule::kMap) {
      by_map();
    } else {
      by_rule();
    }
    adjust();
    return std::move(plan_);
  }

 private:
  Date leaves_on(ContractMonth month) const {
    return business_days_before(calendar_, last_safe_day(calendar_, month), config_.days_before);
  }

  void by_rule() {
    // The first session is held by what is nearest then: its own volume is not known yet.
    std::size_t now = next_alive(0, *sessions_.begin());
    if (now == contracts_.size()) {
      throw DataError(
          fmt::format("[continuous] every contract is over by {}", to_string(*sessions_.begin())));
    }
    start_with(contracts_[now]->symbol, *sessions_.begin());
    note_missing({}, contracts_[now]->month, *sessions_.begin());
    std::optional<std::size_t> pending;
    Date decided{};
    for (const Date date : sessions_) {
      if (pending && contracts_[*pending]->month > contracts_[now]->month) {
        roll(now, *pending, rule_name(), decided, session_after(calendar_, decided));
        now = *pending;
      }
      pending.reset();
      if (sys_days{date} >= sys_days{leave_on_[now]}) {
        const std::size_t next = next_alive(now + 1, date);
        if (next < contracts_.size()) {
          const bool planned = config_.rule == RollRule::kCalendar;
          // The day is known long before, so the roll stands at its session even where that has no
          // bar; a contract that only begins later follows as late.
          const Date day = std::max(leave_on_[now], first_after_start());
          const market::Session session = *calendar_.session_on(day);
          note_missing(contracts_[now]->month, contracts_[next]->month, date);
          roll(now, next, planned ? "calendar" : "expiry", previous_session(day), session);
          now = next;
        }
      }
      if (const auto better = decide(now, date)) {
        pending = better;
        decided = date;
      }
    }
  }

  /// The first contract from `from` on that is not to be left yet.
  std::size_t next_alive(std::size_t from, Date date) const {
    while (from < contracts_.size() && sys_days{date} >= sys_days{leave_on_[from]}) ++from;
    return from;
  }

  /// At the close of `date`: the later contract that has overtaken, if any.
  std::optional<std::size_t> decide(std::size_t now, Date date) const {
    if (config_.rule == RollRule::kCalendar) return std::nullopt;
    // A hole in the files is no loss of volume.
    if (config_.rule == RollRule::kVolume && !contracts_[now]->days.contains(date))
      return std::nullopt;
    std::optional<std::size_t> best;
    std::int64_t most = measure(now, date);
    for (std::size_t k = now + 1; k < contracts_.size(); ++k) {
      const std::int64_t size = measure(k, date);
      if (size > most) {
        most = size;
        best = k;
      }
    }
    return best;
  }

  std::int64_t measure(std::size_t k, Date date) const {
    if (config_.rule == RollRule::kVolume) {
      const auto day = contracts_[k]->days.find(date);
      return day == contracts_[k]->days.end() ? 0 : static_cast<std::int64_t>(day->second.volume);
    }
    const auto counted = config_.open_interest.find(contracts_[k]->symbol);
    if (counted == config_.open_interest.end()) return 0;
    // Counted at the end of a session, published in the next: known are those before `date`.
    const auto after = counted->second.lower_bound(date);
    return after == counted->second.begin() ? 0 : std::prev(after)->second;
  }

  void by_map() {
    for (const auto& [date, symbol] : config_.map) {
      const auto known =
          std::ranges::find(contracts_, symbol, [](const ContractDays* c) { return c->symbol; });
      if (known == contracts_.end()) {
        plan_.not_found.push_back(symbol);
        continue;
      }
      const auto index = static_cast<std::size_t>(known - contracts_.begin());
      const auto session = calendar_.session_on(date);
      if (!session) {
        throw DataError(fmt::format("[continuous] the map's {} is no trade date of {}",
                                    to_string(date), config_.product));
      }
      if (plan_.stretches.empty()) {
        start_with(symbol, date);
        last_ = index;
      } else {
        roll(last_, index, "map", previous_session(date), *session);
        last_ = index;
      }
    }
    if (plan_.stretches.empty())
      throw DataError("[continuous] the map names no contract that has a bar");
  }

  void start_with(const std::string& symbol, Date date) {
    plan_.stretches.push_back({.symbol = symbol, .begin = calendar_.session_on(date)->open});
    started_ = date;
  }
  Date first_after_start() const { return session_after(calendar_, started_).trade_date; }

  Date previous_session(Date date) const {
    const UnixNanos open = calendar_.session_on(date)->open;
    const auto before = calendar_.sessions_between(open - days{14}, open);
    return before.empty() ? date : before.back().trade_date;
  }

  void roll(std::size_t from, std::size_t to, std::string rule, Date decided,
            const market::Session& session) {
    Roll roll{.rule = std::move(rule),
              .decided = decided,
              .first = session.trade_date,
              .at = session.open,
              .from = contracts_[from]->symbol,
              .to = contracts_[to]->symbol};
    const auto& old_days = contracts_[from]->days;
    const auto& new_days = contracts_[to]->days;
    for (auto day = old_days.lower_bound(session.trade_date); day != old_days.begin();) {
      --day;
      const auto other = new_days.find(day->first);
      if (other == new_days.end() || other->second.close.is_null() || day->second.close.is_null())
        continue;
      roll.from_price = day->second.close;
      roll.to_price = other->second.close;
      roll.priced = day->first;
      break;
    }
    plan_.stretches.back().end = session.open;
    plan_.stretches.push_back({.symbol = roll.to, .begin = session.open});
    started_ = session.trade_date;
    plan_.rolls.push_back(std::move(roll));
  }

  /// Contracts of the cycle between two that follow each other.
  void note_missing(std::optional<ContractMonth> from, ContractMonth to, Date date) {
    const bool calendar = config_.rule == RollRule::kCalendar;
    ContractMonth month = from.value_or(
        ContractMonth{static_cast<int>(date.year()), static_cast<unsigned>(date.month()) - 1});
    for (;;) {
      if (++month.month > 12) month = {month.year + 1, 1};
      if (month >= to) return;
      if (!calendar || cycle_.find(month_letter(month.month)) == std::string::npos) continue;
      if (sys_days{date} >= sys_days{leaves_on(month)}) continue;
      plan_.not_found.push_back(
          fmt::format("{}{}{}", config_.product, month_letter(month.month), month.year));
    }
  }

  std::string rule_name() const {
    return config_.rule == RollRule::kVolume ? "volume" : "open_interest";
  }

  void adjust() {
    if (config_.adjust == Adjust::kNone) return;
    for (const Roll& roll : plan_.rolls) {
      if (roll.from_price.is_null()) {
        throw DataError(fmt::format(
            "[continuous] {} and {} have no common session before {}, so nothing says what the "
            "roll costs; choose no adjustment or give both contracts' bars",
            roll.from, roll.to, to_string(roll.first)));
      }
      if (config_.adjust == Adjust::kRatio &&
          (roll.from_price.nano <= 0 || roll.to_price.nano <= 0)) {
        throw DataError(fmt::format(
            "[continuous] prices of 0 or below ({} at {}, {} at {}, {}) have no ratio; adjust by "
            "difference",
            roll.from, roll.from_price.to_double(), roll.to, roll.to_price.to_double(),
            to_string(roll.priced)));
      }
    }
    const auto ratio = [](const Roll& roll) {
      return static_cast<double>(roll.to_price.nano) / static_cast<double>(roll.from_price.nano);
    };
    std::vector<Stretch>& all = plan_.stretches;
    if (config_.anchor == Anchor::kLast) {
      for (std::size_t i = all.size() - 1; i-- > 0;) {
        const Roll& roll = plan_.rolls[i];
        if (config_.adjust == Adjust::kRatio)
          all[i].factor = all[i + 1].factor * ratio(roll);
        else
          all[i].offset = all[i + 1].offset + roll.to_price.nano - roll.from_price.nano;
      }
    } else {
      for (std::size_t i = 1; i < all.size(); ++i) {
        const Roll& roll = plan_.rolls[i - 1];
        if (config_.adjust == Adjust::kRatio)
          all[i].factor = all[i - 1].factor / ratio(roll);
        else
          all[i].offset = all[i - 1].offset + roll.from_price.nano - roll.to_price.nano;
      }
    }
  }

  const RollConfig& config_;
  const market::Calendar& calendar_;
  std::string cycle_;
  std::vector<const ContractDays*> contracts_;
  std::vector<Date> leave_on_;  ///< trade date of the first session without the contract
  std::set<Date> sessions_;
  std::size_t last_ = 0;  ///< of the map
  Date started_{};
  RollPlan plan_;
};

}  // namespace

RollPlan plan_rolls(const std::vector<ContractDays>& contracts, const RollConfig& config,
                    const market::Calendar& calendar) {
  return Planner(contracts, config, calendar).plan();
}

}  // namespace foxhunt::series
