// The operator of state space models: against float64, with the error bounds that decay.h states.
#include "foxhunt/kernels/scan/decay.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <utility>

#include "foxhunt/kernels/scan/scan_test_support.h"

namespace foxhunt::kernels {
namespace {

using test::with_every_algorithm;
using Step = DecayStep<float>;
using Product = DecayOperator<float>;
using Log = LogDecayOperator<float>;

constexpr double kUnit = 0x1p-24;  // half an ulp of 1 in float32
constexpr double kLeast = std::numeric_limits<float>::denorm_min();

struct Judge {
  double h = 0;
  double size = 0;   ///< sum of |what is left of each b_j|
  double log = 0;    ///< log decay since the start
  double reach = 0;  ///< sum of |L| |what is left|, for the error of sums of logarithms
};

/// h <- a h + b in float64, beside the sums that the bounds are made of.
std::vector<Judge> judge(const std::vector<double>& log_decays, const std::vector<double>& decays,
                         const std::vector<float>& b, double h0) {
  std::vector<Judge> answers;
  Judge now{.h = h0, .size = std::abs(h0)};
  for (std::size_t t = 0; t < b.size(); ++t) {
    const double a = decays[t];
    now.h = a * now.h + b[t];
    // Each old term gains |l| of reach. 0 inf must not be met: a = 0 forgets.
    now.reach = a == 0 ? 0 : a * (now.reach + std::abs(log_decays[t]) * now.size);
    now.size = a * now.size + std::abs(b[t]);
    now.log += log_decays[t];
    answers.push_back(now);
  }
  return answers;
}

struct Market {
  std::string name;
  std::function<float(Rng&)> log_decay;
};

const Market kMarkets[] = {
    {"forgets slowly", [](Rng& rng) { return static_cast<float>(-1e-4 * rng.uniform()); }},
    {"as a trained layer", [](Rng& rng) { return static_cast<float>(-2 * rng.uniform()); }},
    {"forgets at once", [](Rng&) { return -4e4F; }},
    {"now and then",
     [](Rng& rng) {
       const double x = rng.uniform();
       return static_cast<float>(x < 0.02 ? -4e4 : x < 0.2 ? 0.0 : -1e-2 * x);
     }},
};

TEST(Decay, ProductsStayWithinTheStatedBoundOfFloat64) {
  for (const Market& market : kMarkets) {
    for (const std::size_t size : std::initializer_list<std::size_t>{1, 2, 33, 1000, 20000}) {
      Rng rng(size);
      std::vector<Step> in;
      std::vector<double> decays, logs;
      std::vector<float> b;
      for (std::size_t t = 0; t < size; ++t) {
        const float a = std::exp(market.log_decay(rng));
        in.push_back({{static_cast<float>(rng.normal())}, a});
        decays.push_back(a);
        logs.push_back(std::log(static_cast<double>(a)));
        b.push_back(in.back().increment[0]);
      }
      const float h0 = 3;
      const std::vector<Judge> want = judge(logs, decays, b, h0);
      with_every_algorithm([&](const auto& algorithm, const std::string& name) {
        std::vector<Step> out(size, {{NAN}, NAN});
        scan(algorithm, Product(), in, out, Inclusion::kInclusive, {{h0}, 1});
        for (std::size_t t = 0; t < size; ++t) {
          const double steps = static_cast<double>(t + 1);
          const double g = 2 * steps * kUnit / (1 - 2 * steps * kUnit);
          const double bound = g * want[t].size + steps * kLeast;
          ASSERT_LE(std::abs(out[t].increment[0] - want[t].h), bound)
              << name << ", " << market.name << ", step " << t << " of " << size;
        }
      });
    }
  }
}

TEST(Decay, LogarithmsStayWithinTheStatedBoundOfFloat64) {
  for (const Market& market : kMarkets) {
    for (const std::size_t size : std::initializer_list<std::size_t>{1, 2, 33, 1000, 20000}) {
      Rng rng(size);
      std::vector<LogDecayStep<float>> in;
      std::vector<double> decays, logs;
      std::vector<float> b;
      for (std::size_t t = 0; t < size; ++t) {
        in.push_back({{static_cast<float>(rng.normal())}, market.log_decay(rng)});
        logs.push_back(in.back().log_decay);
        decays.push_back(std::exp(logs.back()));
        b.push_back(in.back().increment[0]);
      }
      const float h0 = 3;
      const std::vector<Judge> want = judge(logs, decays, b, h0);
      with_every_algorithm([&](const auto& algorithm, const std::string& name) {
        std::vector<LogDecayStep<float>> out(size, {{NAN}, NAN});
        scan(algorithm, Log(), in, out, Inclusion::kInclusive, {{h0}, 0});
        for (std::size_t t = 0; t < size; ++t) {
          const double n = static_cast<double>(t + 1) * kUnit;
          // 1.01: the bounds are first order in n, which is below 0.002 here.
          const double bound = 1.01 * (4 * n * want[t].size + n * want[t].reach) +
                               static_cast<double>(t + 1) * kLeast;
          ASSERT_LE(std::abs(out[t].increment[0] - want[t].h), bound)
              << name << ", " << market.name << ", step " << t << " of " << size;
          ASSERT_LE(std::abs(out[t].log_decay - want[t].log), n * std::abs(want[t].log))
              << name << ", " << market.name << ", step " << t << " of " << size;
        }
      });
    }
  }
}

TEST(Decay, ADecayNeverGrowsAboveAnyOfItsFactors) {
  // Factors within a few ulps of 1: products round at every step.
  Rng rng(4);
  std::vector<Step> in(3000);
  std::vector<LogDecayStep<float>> logs(in.size());
  for (std::size_t t = 0; t < in.size(); ++t) {
    in[t] = {{0}, 1.0F - static_cast<float>(rng.below(4)) * 0x1p-24F};
    logs[t] = {{0}, -static_cast<float>(rng.uniform()) * 1e-6F};
  }
  const float h0 = 1.7F;
  with_every_algorithm([&](const auto& algorithm, const std::string& name) {
    std::vector<Step> out(in.size());
    std::vector<LogDecayStep<float>> log_out(in.size());
    scan(algorithm, Product(), in, out, Inclusion::kInclusive, {{h0}, 1});
    scan(algorithm, Log(), logs, log_out, Inclusion::kInclusive, {{h0}, 0});
    float least = 1;
    float least_log = 0;
    for (std::size_t t = 0; t < in.size(); ++t) {
      least = std::min(least, in[t].decay);
      least_log = std::min(least_log, logs[t].log_decay);
      ASSERT_LE(out[t].decay, least) << name << " at " << t;
      ASSERT_LE(log_out[t].log_decay, least_log) << name << " at " << t;
      ASSERT_LE(out[t].increment[0], h0) << name << " at " << t;
      ASSERT_LE(log_out[t].increment[0], h0) << name << " at " << t;
    }
  });
  std::vector<Step> out(in.size());
  scan(SequentialScan{}, Product(), in, out, Inclusion::kInclusive, {{h0}, 1});
  for (std::size_t t = 1; t < in.size(); ++t) {
    ASSERT_LE(out[t].decay, out[t - 1].decay) << "the sequential product grew at " << t;
    ASSERT_LE(out[t].increment[0], out[t - 1].increment[0]) << "the state grew at " << t;
  }
}

TEST(Decay, LogarithmsKeepSlowDecaysThatProductsLose) {
  const std::size_t size = 1'000'000;
  const std::vector<LogDecayStep<float>> logs(size, {{0}, -1e-9F});
  const std::vector<Step> products(size, {{0}, std::exp(-1e-9F)});
  std::vector<LogDecayStep<float>> log_out(size);
  std::vector<Step> out(size);
  scan(Blelloch{}, Log(), logs, log_out, Inclusion::kInclusive, {{1}, 0});
  scan(Blelloch{}, Product(), products, out, Inclusion::kInclusive, {{1}, 1});
  EXPECT_EQ(out.back().increment[0], 1.0F);
  // exp(-1e-3), give or take 20 levels of the tree that each round once or twice.
  EXPECT_NEAR(log_out.back().increment[0], std::exp(-1e-3), 40 * kUnit);
}

TEST(Decay, TotalForgettingIsFiniteAndForgetsEveryBit) {
  for (const float before : {1.0F, -3e38F, 1e-38F}) {
    std::vector<Step> in(50, {{1}, std::exp(-4e4F)});
    std::vector<LogDecayStep<float>> logs(50, {{1}, -4e4F});
    in[7].increment[0] = logs[7].increment[0] = before;
    with_every_algorithm([&](const auto& algorithm, const std::string& name) {
      std::vector<Step> out(in.size());
      std::vector<LogDecayStep<float>> log_out(in.size());
      scan(algorithm, Product(), in, out, Inclusion::kInclusive, {{3e38F}, 1});
      scan(algorithm, Log(), logs, log_out, Inclusion::kInclusive, {{3e38F}, 0});
      for (std::size_t t = 0; t < in.size(); ++t) {
        ASSERT_EQ(out[t].increment[0], in[t].increment[0]) << name;
        ASSERT_EQ(log_out[t].increment[0], in[t].increment[0]) << name;
        ASSERT_TRUE(std::isfinite(log_out[t].log_decay)) << name;
      }
    });
  }
}

TEST(Decay, AWideStepIsAsManyNarrowOnesBitForBit) {
  constexpr std::size_t kWidth = 5;
  Rng rng(12);
  std::vector<DecayStep<float, kWidth>> wide(200);
  for (auto& step : wide) {
    step.decay = static_cast<float>(rng.uniform());
    for (float& x : step.increment) x = static_cast<float>(rng.normal());
  }
  with_every_algorithm([&](const auto& algorithm, const std::string& name) {
    std::vector<DecayStep<float, kWidth>> out(wide.size());
    scan(algorithm, DecayOperator<float, kWidth>(), wide, out);
    for (std::size_t c = 0; c < kWidth; ++c) {
      std::vector<Step> narrow;
      narrow.reserve(wide.size());
      for (const auto& step : wide) narrow.push_back({{step.increment[c]}, step.decay});
      scan(algorithm, Product(), narrow, narrow);
      for (std::size_t t = 0; t < wide.size(); ++t) {
        ASSERT_EQ(out[t].increment[c], narrow[t].increment[0]) << name << " at " << t;
        ASSERT_EQ(out[t].decay, narrow[t].decay) << name << " at " << t;
      }
    }
  });
}

/// Floats compared as their bits: -0 is not 0, and NaN is itself.
std::pair<std::uint32_t, std::uint32_t> bits(const Step& step) {
  return {std::bit_cast<std::uint32_t>(step.decay),
          std::bit_cast<std::uint32_t>(step.increment[0])};
}

template <class Op>
void expect_identity_changes_no_bit() {
  const Op op;
  for (const float decay : {0.0F, 0.3F, 1.0F}) {
    for (const float b : {0.0F, -0.0F, 1.5F, -1e-45F, std::numeric_limits<float>::infinity()}) {
      const ScanValue<Op> x{{b}, decay};
      const ScanValue<Op> before = op.combine(op.identity(), x);
      const ScanValue<Op> after = op.combine(x, op.identity());
      EXPECT_EQ(bits(before), bits(x)) << decay << ", " << b;
      EXPECT_EQ(bits(after), bits(x)) << decay << ", " << b;
    }
  }
}

TEST(Decay, TheIdentityChangesNoBit) {
  expect_identity_changes_no_bit<Product>();
  EXPECT_EQ(Log().combine(Log().identity(), {{-0.0F}, -0.3F}).log_decay, -0.3F);
  EXPECT_TRUE(std::signbit(Log().combine(Log().identity(), {{-0.0F}, -0.3F}).increment[0]));
}

}  // namespace
}  // namespace foxhunt::kernels
