// The generator against its own exact distribution, and that against a brute-force sum over all
// paths.
#include "foxhunt/market/synthetic.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "foxhunt/base/error.h"

namespace foxhunt::market {
namespace {

std::vector<Session> sessions(const char* from, const char* to) {
  return Calendar::for_product("ES").sessions_between(parse_time(from), parse_time(to));
}

SyntheticMarket market_of(const SyntheticConfig& config, std::uint64_t seed) {
  Rng rng(seed);
  return make_synthetic(config, contract_for_product("ES"), sessions("2022-03-01", "2022-06-01"),
                        rng);
}

/// Sums over every path of the chain, one by one, straight from the table in synthetic.h.
void walk(const SyntheticConfig& c, std::int64_t m, std::int64_t bars, std::int64_t move,
          double probability, std::int64_t dead_zone, std::array<double, 3>& classes) {
  if (bars == 0) {
    classes[move > dead_zone ? 2 : move < -dead_zone ? 0 : 1] += probability;
    return;
  }
  const auto go = [&](std::int64_t ticks, std::int64_t next, double p) {
    walk(c, next, bars - 1, move + ticks, probability * p, dead_zone, classes);
  };
  if (m != 0) {
    const std::int64_t d = m > 0 ? 1 : -1;
    go(d, m - d, c.drift_with);
    go(-d, m - d, c.drift_against);
    go(0, m - d, 1 - c.drift_with - c.drift_against);
    return;
  }
  const std::int64_t k = c.kind == SyntheticKind::kPlanted ? c.drift_bars : 0;
  for (const int d : {1, -1}) {
    go(d * c.trigger_ticks, d * k, c.trigger_probability / 2);
    go(d, 0, (1 - c.trigger_probability) * c.move_probability / 2);
  }
  go(0, 0, (1 - c.trigger_probability) * (1 - c.move_probability));
}

TEST(Synthetic, OutcomeEqualsTheSumOverAllPaths) {
  for (const SyntheticKind kind : {SyntheticKind::kPlanted, SyntheticKind::kRandomWalk}) {
    const SyntheticConfig config{.kind = kind, .trigger_ticks = 3, .drift_bars = 3};
    const SyntheticDynamics dynamics(config);
    for (const std::int64_t m : {-3, -1, 0, 2}) {
      for (const std::int64_t horizon : {0, 1, 4, 6}) {
        for (const std::int64_t dead_zone : {0, 1, 2}) {
          std::array<double, 3> want{};
          walk(config, m, horizon, 0, 1.0, dead_zone, want);
          const std::array<double, 3> got = dynamics.outcome(m, horizon, dead_zone);
          // Rounding of at most 5^6 summed products.
          for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(got[i], want[i], 1e-12);
        }
      }
    }
  }
}

TEST(Synthetic, MirrorsUpAndDown) {
  const SyntheticDynamics dynamics(SyntheticConfig{});
  for (const std::int64_t m : {0, 1, 5, 12}) {
    const auto up = dynamics.outcome(m, 10, 1);
    const auto down = dynamics.outcome(-m, 10, 1);
    EXPECT_NEAR(up[0] + up[1] + up[2], 1.0, 1e-12);
    EXPECT_NEAR(up[2], down[0], 1e-12);
    EXPECT_NEAR(up[1], down[1], 1e-12);
  }
}

TEST(Synthetic, BarsHaveTheFrequenciesThatOutcomePromises) {
  const SyntheticConfig config{.bars = 60'000};
  const SyntheticMarket market = market_of(config, 1);
  const SyntheticDynamics dynamics(config);
  const std::int64_t horizon = 5;
  std::map<std::int64_t, std::array<double, 3>> seen;
  // Every horizon-th bar: the intervals do not overlap, so the counts are independent.
  for (std::size_t t = 0; t + 5 < market.bars.size(); t += 5) {
    if (market.bars[t + 5].start - market.bars[t].start != std::chrono::minutes{5}) continue;
    const std::int64_t move =
        (market.bars[t + 5].close.nano - market.bars[t].close.nano) / 250'000'000;
    seen[market.state[t]][move > 1 ? 2 : move < -1 ? 0 : 1] += 1;
  }
  ASSERT_EQ(seen.size(), 25U);
  for (const auto& [m, counts] : seen) {
    const double n = counts[0] + counts[1] + counts[2];
    const auto want = dynamics.outcome(m, horizon, 1);
    for (std::size_t i = 0; i < 3; ++i) {
      // 4.5 standard errors of a frequency: 75 comparisons fail by chance in 1 of 2000 seeds.
      EXPECT_NEAR(counts[i] / n, want[i], 4.5 * std::sqrt(want[i] * (1 - want[i]) / n) + 1e-9)
          << "m = " << m << ", n = " << n;
    }
  }
}

TEST(Synthetic, TheBayesRateIsTheMeanOverTheStates) {
  const SyntheticDynamics dynamics(SyntheticConfig{});
  const std::vector<std::int64_t> states{0, 5, 5, -12};
  const BayesRate rate = dynamics.bayes_rate(states, 6, 1);
  double accuracy = 0;
  double log_loss = 0;
  std::array<double, 3> prior{};
  for (const std::int64_t m : states) {
    const auto p = dynamics.outcome(m, 6, 1);
    accuracy += std::max({p[0], p[1], p[2]}) / 4;
    for (std::size_t i = 0; i < 3; ++i) {
      log_loss -= p[i] * std::log(p[i]) / 4;
      prior[i] += p[i] / 4;
    }
  }
  EXPECT_NEAR(rate.accuracy, accuracy, 1e-12);
  EXPECT_NEAR(rate.log_loss, log_loss, 1e-12);
  EXPECT_NEAR(rate.prior_accuracy, std::max({prior[0], prior[1], prior[2]}), 1e-12);
}

TEST(Synthetic, TheDefaultsHaveTheRatesThatTheHeaderStates) {
  const SyntheticMarket market = market_of({.bars = 20'000}, 11);
  const BayesRate rate = SyntheticDynamics({}).bayes_rate(market.state, 6, 1);
  EXPECT_NEAR(rate.accuracy, 0.59, 0.01);
  EXPECT_NEAR(rate.prior_accuracy, 0.34, 0.01);
}

TEST(Synthetic, ATriggerIsPlainInVolumeAndMoveAndNothingElseLooksLikeIt) {
  const SyntheticConfig config{.bars = 20'000};
  const SyntheticMarket market = market_of(config, 2);
  int triggers = 0;
  for (std::size_t t = 1; t < market.bars.size(); ++t) {
    const std::int64_t before =
        market.bars[t].start - market.bars[t - 1].start == std::chrono::minutes{1}
            ? market.state[t - 1]
            : 0;  // a session begins without a drift
    const std::int64_t now = market.state[t];
    const bool is_trigger = before == 0 && now != 0;
    triggers += is_trigger ? 1 : 0;
    EXPECT_EQ(now, is_trigger ? (now > 0 ? 12 : -12) : before - (before > 0) + (before < 0));
    // exp(0.25 z) of normal noise: a burst of 10 stands 4.6 deviations over the middle, 300
    // sqrt(10).
    EXPECT_EQ(market.bars[t].volume > 949, is_trigger) << t;
    if (is_trigger) {
      const std::int64_t move = market.bars[t].close.nano - market.bars[t].open.nano;
      EXPECT_EQ(move, (now > 0 ? 2 : -2) * std::int64_t{250'000'000});
    }
  }
  EXPECT_GT(triggers, 700);
}

TEST(Synthetic, BarsAreWholeAndLieInTheSessions) {
  const SyntheticMarket market = market_of({.bars = 5'000}, 3);
  const Calendar calendar = Calendar::for_product("ES");
  ASSERT_EQ(market.bars.size(), 5'000U);
  ASSERT_EQ(market.state.size(), 5'000U);
  for (std::size_t i = 0; i < market.bars.size(); ++i) {
    const Bar& bar = market.bars[i];
    for (const Price p : {bar.open, bar.high, bar.low, bar.close}) {
      EXPECT_EQ(p.nano % 250'000'000, 0);
      EXPECT_TRUE(bar.low <= p && p <= bar.high);
    }
    EXPECT_TRUE(calendar.session_at(bar.start).has_value());
    EXPECT_GE(bar.volume, 1U);
    if (i > 0) {
      EXPECT_GT(bar.start, market.bars[i - 1].start);
    }
  }
}

TEST(Synthetic, LeavesOutTheHaltOfASession) {
  Rng rng(4);
  const auto market = make_synthetic({.bars = 2'700}, contract_for_product("ES"),
                                     sessions("2013-10-07T22:00", "2013-10-10T21:00"), rng);
  const Calendar calendar = Calendar::for_product("ES");
  for (const Bar& bar : market.bars) {
    EXPECT_FALSE(calendar.session_at(bar.start)->halted_at(bar.start));
  }
}

TEST(Synthetic, ARandomWalkHasNoStateAndItsBurstsMeanNothing) {
  const SyntheticConfig config{.kind = SyntheticKind::kRandomWalk, .bars = 20'000};
  const SyntheticMarket market = market_of(config, 5);
  double bursts = 0;
  double with = 0;
  for (std::size_t t = 0; t + 1 < market.bars.size(); ++t) {
    EXPECT_EQ(market.state[t], 0);
    if (market.bars[t].volume < 949) continue;
    const std::int64_t d = market.bars[t].close > market.bars[t].open ? 1 : -1;
    bursts += 1;
    with +=
        static_cast<double>(d * (market.bars[t + 1].close.nano - market.bars[t + 1].open.nano)) /
        250e6;
  }
  ASSERT_GT(bursts, 1000);
  // A next move has a variance of 0.78 ticks squared; four standard errors of its mean.
  EXPECT_NEAR(with / bursts, 0.0, 4 * std::sqrt(0.78 / bursts));
}

TEST(Synthetic, OneSeedGivesOneMarket) {
  const auto a = market_of({.bars = 500}, 6);
  const auto b = market_of({.bars = 500}, 6);
  const auto c = market_of({.bars = 500}, 7);
  int same = 0;
  for (std::size_t i = 0; i < 500; ++i) {
    EXPECT_EQ(a.bars[i].close, b.bars[i].close);
    EXPECT_EQ(a.bars[i].volume, b.bars[i].volume);
    same += a.bars[i].volume == c.bars[i].volume ? 1 : 0;
  }
  EXPECT_LT(same, 50);
}

TEST(Synthetic, RefusesWhatCannotBeAndSaysWhy) {
  const auto error_of = [](const SyntheticConfig& config) -> std::string {
    try {
      market_of(config, 1);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "";
  };
  using testing::HasSubstr;
  const std::string two = error_of({.drift_with = 0.8, .drift_against = 0.5, .volume = 0});
  EXPECT_THAT(two, HasSubstr("drift_with + drift_against = 1.3 is outside [0, 1]"));
  EXPECT_THAT(two, HasSubstr("volume = 0"));
  EXPECT_THAT(error_of({.trigger_probability = std::nan("")}),
              HasSubstr("trigger_probability = nan"));
  EXPECT_THAT(error_of({.bars = 10'000'000}), HasSubstr("10000000 bars were asked for"));
  EXPECT_THAT(error_of({.first_price_ticks = 2}), HasSubstr("fell to zero"));
  EXPECT_THROW(SyntheticDynamics({}).outcome(13, 5, 1), ConfigError);
}

}  // namespace
}  // namespace foxhunt::market
