#include "foxhunt/market/synthetic.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <string>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

/// One move of the chain: so many ticks, to state `next`, with this probability.
struct Step {
  std::int64_t ticks = 0;
  std::int64_t next = 0;
  double probability = 0;
};

std::int64_t sign(std::int64_t x) { return (x > 0) - (x < 0); }

std::vector<Step> steps_from(std::int64_t m, const SyntheticConfig& c) {
  if (m != 0) {
    const std::int64_t d = sign(m);
    return {{d, m - d, c.drift_with},
            {-d, m - d, c.drift_against},
            {0, m - d, 1.0 - c.drift_with - c.drift_against}};
  }
  const bool means_something = c.kind == SyntheticKind::kPlanted;
  const std::int64_t drift = means_something ? c.drift_bars : 0;
  const double quiet = 1.0 - c.trigger_probability;
  return {{c.trigger_ticks, drift, c.trigger_probability / 2},
          {-c.trigger_ticks, -drift, c.trigger_probability / 2},
          {1, 0, quiet * c.move_probability / 2},
          {-1, 0, quiet * c.move_probability / 2},
          {0, 0, quiet * (1.0 - c.move_probability)}};
}

void require_usable(const SyntheticConfig& c) {
  std::vector<std::string> errors;
  const auto check = [&errors](const char* name, double value, double min, double max) {
    if (value >= min && value <= max) return;  // false for NaN
    errors.push_back(fmt::format("{} = {} is outside [{}, {}]", name, value, min, max));
  };
  const auto whole = [&check](const char* name, std::int64_t value, double min, double max) {
    check(name, static_cast<double>(value), min, max);
  };
  whole("bars", c.bars, 1, 1e9);
  whole("first_price_ticks", c.first_price_ticks, 1, 1e9);
  check("move_probability", c.move_probability, 0, 1);
  check("trigger_probability", c.trigger_probability, 0, 1);
  whole("trigger_ticks", c.trigger_ticks, 2, 100);  // 1 would look like any bar
  whole("drift_bars", c.drift_bars, 1, 1000);
  check("drift_with", c.drift_with, 0, 1);
  check("drift_against", c.drift_against, 0, 1);
  check("drift_with + drift_against", c.drift_with + c.drift_against, 0, 1);
  check("volume", c.volume, 1, 1e9);
  check("volume_noise", c.volume_noise, 0, 1);
  check("burst", c.burst, 1, 1e6);
  if (!errors.empty()) {
    throw ConfigError(fmt::format("[synthetic] {}", fmt::join(errors, "\n[synthetic] ")));
  }
}

/// The minutes of one session in which bars begin.
std::vector<UnixNanos> minutes_of(const Session& session) {
  constexpr std::chrono::minutes kStep{1};
  std::vector<UnixNanos> minutes;
  for (UnixNanos t = session.open; t + kStep <= session.close; t += kStep) {
    if (!session.halted_at(t)) minutes.push_back(t);
  }
  return minutes;
}

/// Writes one bar after the other.
class Tape {
 public:
  Tape(const SyntheticConfig& config, const Contract& contract, Rng& rng)
      : config_(config), tick_(contract.tick.nano), price_(config.first_price_ticks), rng_(rng) {}

  void start_session() { m_ = 0; }

  Bar next(UnixNanos start) {
    const bool was_idle = m_ == 0;
    const Step step = draw_step();
    const bool is_burst = was_idle && std::abs(step.ticks) == config_.trigger_ticks;
    const std::int64_t open = price_;
    const std::int64_t close = open + step.ticks;
    // A tick beyond the body on either side, now and then.
    const std::int64_t high = std::max(open, close) + (rng_.uniform() < 0.3 ? 1 : 0);
    const std::int64_t low = std::min(open, close) - (rng_.uniform() < 0.3 ? 1 : 0);
    if (low < 1) {
      throw ConfigError(
          fmt::format("[synthetic] the price fell to zero at {}; raise first_price_ticks = {}",
                      to_string(start), config_.first_price_ticks));
    }
    price_ = close;
    m_ = step.next;
    const double volume = config_.volume * std::exp(config_.volume_noise * rng_.normal()) *
                          (is_burst ? config_.burst : 1.0);
    return {.instrument = {.publisher_id = 1, .instrument_id = 1},
            .start = start,
            .open = at(open),
            .high = at(high),
            .low = at(low),
            .close = at(close),
            .volume = static_cast<std::uint64_t>(std::llround(std::max(1.0, volume)))};
  }

  std::int64_t state() const { return m_; }

 private:
  Step draw_step() {
    const std::vector<Step> steps = steps_from(m_, config_);
    double u = rng_.uniform();
    for (const Step& step : steps) {
      if (u < step.probability) return step;
      u -= step.probability;
    }
    return steps.back();  // rounding left a sliver
  }
  Price at(std::int64_t ticks) const { return Price{ticks * tick_}; }

  const SyntheticConfig& config_;
  std::int64_t tick_;
  std::int64_t price_;
  std::int64_t m_ = 0;
  Rng& rng_;
};

}  // namespace

SyntheticDynamics::SyntheticDynamics(const SyntheticConfig& config) : config_(config) {
  require_usable(config_);
}

std::array<double, 3> SyntheticDynamics::outcome(std::int64_t m, std::int64_t horizon,
                                                 std::int64_t dead_zone_ticks) const {
  const std::int64_t k = config_.drift_bars;
  if (m < -k || m > k || horizon < 0 || dead_zone_ticks < 0) {
    throw ConfigError(fmt::format(
        "[synthetic] m = {}, horizon = {}, dead zone = {} ticks: no state of this market", m,
        horizon, dead_zone_ticks));
  }
  // probability[state + k][sum + reach] of being in a state with the price moved by so many ticks.
  const std::int64_t reach = horizon * config_.trigger_ticks;
  const auto states = static_cast<std::size_t>(2 * k + 1);
  const auto sums = static_cast<std::size_t>(2 * reach + 1);
  using Table = std::vector<std::vector<double>>;
  Table now(states, std::vector<double>(sums, 0.0));
  now[static_cast<std::size_t>(m + k)][static_cast<std::size_t>(reach)] = 1.0;
  for (std::int64_t bar = 0; bar < horizon; ++bar) {
    Table after(states, std::vector<double>(sums, 0.0));
    for (std::int64_t from = -k; from <= k; ++from) {
      const std::vector<double>& row = now[static_cast<std::size_t>(from + k)];
      for (const Step& step : steps_from(from, config_)) {
        std::vector<double>& to = after[static_cast<std::size_t>(step.next + k)];
        for (std::size_t i = 0; i < sums; ++i) {
          if (row[i] == 0.0)
            continue;  // where the sum lies at the rim, no probability has come yet
          to[static_cast<std::size_t>(static_cast<std::int64_t>(i) + step.ticks)] +=
              row[i] * step.probability;
        }
      }
    }
    now.swap(after);
  }
  std::array<double, 3> classes{};
  for (const std::vector<double>& row : now) {
    for (std::size_t i = 0; i < sums; ++i) {
      const std::int64_t move = static_cast<std::int64_t>(i) - reach;
      classes[move > dead_zone_ticks ? 2U : move < -dead_zone_ticks ? 0U : 1U] += row[i];
    }
  }
  return classes;
}

BayesRate SyntheticDynamics::bayes_rate(std::span<const std::int64_t> states, std::int64_t horizon,
                                        std::int64_t dead_zone_ticks) const {
  std::map<std::int64_t, std::array<double, 3>> outcomes;
  BayesRate rate;
  std::array<double, 3> prior{};
  const double weight = 1.0 / static_cast<double>(states.size());
  for (const std::int64_t m : states) {
    const auto [place, is_new] = outcomes.try_emplace(m);
    if (is_new) place->second = outcome(m, horizon, dead_zone_ticks);
    const std::array<double, 3>& p = place->second;
    rate.accuracy += weight * *std::ranges::max_element(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
      if (p[i] > 0.0) rate.log_loss -= weight * p[i] * std::log(p[i]);
      prior[i] += weight * p[i];
    }
  }
  rate.prior_accuracy = *std::ranges::max_element(prior);
  return rate;
}

SyntheticMarket make_synthetic(const SyntheticConfig& config, const Contract& contract,
                               std::span<const Session> sessions, Rng& rng) {
  require_usable(config);
  SyntheticMarket market;
  Tape tape(config, contract, rng);
  for (const Session& session : sessions) {
    tape.start_session();
    for (const UnixNanos start : minutes_of(session)) {
      if (static_cast<std::int64_t>(market.bars.size()) == config.bars) return market;
      market.bars.push_back(tape.next(start));
      market.state.push_back(tape.state());
    }
  }
  if (static_cast<std::int64_t>(market.bars.size()) < config.bars) {
    throw ConfigError(
        fmt::format("[synthetic] the sessions have {} minutes, but {} bars were asked for",
                    market.bars.size(), config.bars));
  }
  return market;
}

}  // namespace foxhunt::market
