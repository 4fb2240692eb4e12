// What one layer's sums say, against closed forms and against sums over all pairs of rows.
#include "foxhunt/nn/layer_usage_sums.h"

#include <gtest/gtest.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::nn {
namespace {

/// Two groups of two heads, sizes without a common factor.
model::Mamba2Config sizes() {
  model::Mamba2Config c;
  c.d_model = 6;
  c.headdim = 3;
  c.ngroups = 2;
  c.d_state = 5;
  return c;
}

struct Rows {
  std::vector<double> xbc, dt, state;
  std::vector<std::vector<double>> dy;

  LayerRows view() const {
    LayerRows rows{xbc, dt, state, {}};
    rows.dy.assign(dy.begin(), dy.end());
    return rows;
  }
};

std::size_t u(std::int64_t i) { return static_cast<std::size_t>(i); }

Rows random_rows(const model::Mamba2Config& c, std::int64_t T, int probes, std::uint64_t seed) {
  Rng rng(seed);
  const auto fill = [&](std::int64_t n, double lo, double hi) {
    std::vector<double> values(u(n));
    for (double& v : values) v = rng.uniform(lo, hi);
    return values;
  };
  Rows rows{fill(T * c.conv_channels(), -1, 1),
            fill(T * c.n_heads(), 0.01, 1),
            fill(c.n_heads() * c.headdim * c.d_state, -1, 1),
            {}};
  for (int k = 0; k < probes; ++k) rows.dy.push_back(fill(T * c.d_inner(), -1, 1));
  return rows;
}

/// C_n,t S_t[p, n] of head h by the unrolled sum over all earlier rows.
double part(const model::Mamba2Config& c, const Rows& rows, const std::vector<double>& rate,
            std::int64_t h, std::int64_t t, std::int64_t p, std::int64_t n) {
  const std::int64_t g = h * c.ngroups / c.n_heads();
  const auto channel = [&](std::int64_t s, std::int64_t at) {
    return rows.xbc[u(s * c.conv_channels() + at)];
  };
  const auto dt = [&](std::int64_t s) { return rows.dt[u(s * c.n_heads() + h)]; };
  const std::int64_t b_at = c.d_inner() + g * c.d_state + n;
  double since = 0;  // sum of dt behind row s
  double state = 0;
  for (std::int64_t s = t; s >= 0; --s) {
    state +=
        std::exp(-rate[u(h)] * since) * dt(s) * channel(s, h * c.headdim + p) * channel(s, b_at);
    since += dt(s);
  }
  state += std::exp(-rate[u(h)] * since) * rows.state[u((h * c.headdim + p) * c.d_state + n)];
  return channel(t, b_at + c.ngroups * c.d_state) * state;
}

TEST(LayerUsageSums, EqualTheSumsOverAllPairsOfRows) {
  const model::Mamba2Config c = sizes();
  const std::int64_t T = 9;
  const std::vector<double> rate{0.3, 1.5, 4, 0.01};
  const std::vector<double> skip{1, -0.5, 0, 2};
  const Rows rows = random_rows(c, T, 2, 7);
  LayerUsageSums sums(c, rate, skip);
  sums.add(rows.view());
  const LayerUsage usage = sums.result();

  std::vector<double> group_energy(2), head_energy(4);
  std::vector<std::vector<double>> energy(2, std::vector<double>(5));
  std::vector<std::vector<std::vector<double>>> slope(2, energy);  // [probe][group][column]
  std::vector<std::vector<double>> head_slope(2, std::vector<double>(4));
  std::vector<double> state_energy(4), skip_energy(4);
  double all = 0;
  for (std::int64_t h = 0; h < 4; ++h) {
    for (std::int64_t t = 0; t < T; ++t) {
      for (std::int64_t p = 0; p < 3; ++p) {
        double y = skip[u(h)] * rows.xbc[u(t * c.conv_channels() + h * 3 + p)];
        skip_energy[u(h)] += y * y;
        double from_state = 0;
        for (std::int64_t n = 0; n < 5; ++n) {
          const double v = part(c, rows, rate, h, t, p, n);
          y += v;
          from_state += v;
          energy[u(h / 2)][u(n)] += v * v;
          for (std::size_t k = 0; k < 2; ++k)
            slope[k][u(h / 2)][u(n)] += rows.dy[k][u((t * 4 + h) * 3 + p)] * v;
        }
        for (std::size_t k = 0; k < 2; ++k)
          head_slope[k][u(h)] += rows.dy[k][u((t * 4 + h) * 3 + p)] * y;
        head_energy[u(h)] += y * y;
        state_energy[u(h)] += from_state * from_state;
      }
    }
    group_energy[u(h / 2)] += head_energy[u(h)];
    all += head_energy[u(h)];
  }
  const double weight = 2 * 9;
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::size_t n = 0; n < 5; ++n) {
      const double squares = slope[0][g][n] * slope[0][g][n] + slope[1][g][n] * slope[1][g][n];
      // Rounding of a few hundred float64 operations.
      EXPECT_NEAR(usage.columns[g][n].importance, squares / weight / 2, 1e-12);
      EXPECT_NEAR(usage.columns[g][n].contribution, std::sqrt(energy[g][n] / group_energy[g]),
                  1e-12);
    }
  }
  for (std::size_t h = 0; h < 4; ++h) {
    const double squares =
        head_slope[0][h] * head_slope[0][h] + head_slope[1][h] * head_slope[1][h];
    EXPECT_NEAR(usage.heads[h].importance, squares / weight / 2, 1e-12);
    EXPECT_NEAR(usage.heads[h].energy, head_energy[h] / all, 1e-12);
    EXPECT_NEAR(usage.heads[h].state_share, state_energy[h] / (state_energy[h] + skip_energy[h]),
                1e-12);
  }
  EXPECT_EQ(usage.heads[2].state_share, 1) << "a head without skip";
}

TEST(LayerUsageSums, MemoryOfAConstantStepIsTheClosedForm) {
  const model::Mamba2Config c = sizes();
  const std::vector<double> rate{0.5, 2, 16, 0};
  Rows rows = random_rows(c, 50, 0, 3);
  for (double& dt : rows.dt) dt = 0.04;
  LayerUsageSums sums(c, rate, {});
  sums.add(rows.view());
  const LayerUsage usage = sums.result();
  for (std::size_t h = 0; h < 3; ++h) {
    const HeadUsage& head = usage.heads[h];
    // The mean of 50 equal numbers rounds in the last places.
    EXPECT_NEAR(head.memory, 1 / (0.04 * rate[h]), 1e-12 * head.memory);
    EXPECT_NEAR(std::pow(head.decay, head.memory), std::exp(-1.0), 1e-12)
        << "after `memory` rows a past input has decayed to 1/e";
    EXPECT_EQ(head.dt.median, 0.04);
    EXPECT_EQ(head.rate, rate[h]);
  }
  EXPECT_TRUE(std::isinf(usage.heads[3].memory));
  EXPECT_EQ(usage.heads[3].decay, 1);
}

TEST(LayerUsageSums, MemoryGoesByTheMeanOfTheDataNotByItsMedian) {
  const model::Mamba2Config c = sizes();
  Rows rows = random_rows(c, 4, 0, 3);
  for (std::size_t i = 0; i < rows.dt.size(); ++i) rows.dt[i] = i < 12 ? 0.01 : 0.17;  // mean 0.05
  LayerUsageSums sums(c, {1, 1, 1, 1}, {});
  sums.add(rows.view());
  EXPECT_NEAR(sums.result().heads[0].memory, 20, 1e-12);
  EXPECT_NEAR(sums.result().heads[0].decay, std::exp(-0.05), 1e-12);
  EXPECT_EQ(sums.result().heads[0].dt.median, 0.01);
}

TEST(LayerUsageSums, PiecesOfAStreamAddUpWhereTheStateIsCarriedOn) {
  const model::Mamba2Config c = sizes();
  const std::vector<double> rate{0.3, 1.5, 4, 0.01};
  const Rows whole = random_rows(c, 8, 0, 5);
  LayerUsageSums once(c, rate, {1, 1, 1, 1});
  once.add(whole.view());
  // The state behind row 2, read off the unrolled sums with C = 1 there.
  Rows with_ones = whole;
  for (std::int64_t i = c.d_inner() + 10; i < c.conv_channels(); ++i)
    with_ones.xbc[u(2 * c.conv_channels() + i)] = 1;
  Rows second = whole;
  for (std::int64_t h = 0; h < 4; ++h)
    for (std::int64_t p = 0; p < 3; ++p)
      for (std::int64_t n = 0; n < 5; ++n)
        second.state[u((h * 3 + p) * 5 + n)] = part(c, with_ones, rate, h, 2, p, n);
  Rows first = whole;
  first.xbc.resize(u(3 * c.conv_channels()));
  first.dt.resize(3 * 4);
  second.xbc.erase(second.xbc.begin(), second.xbc.begin() + 3 * c.conv_channels());
  second.dt.erase(second.dt.begin(), second.dt.begin() + 3 * 4);
  LayerUsageSums twice(c, rate, {1, 1, 1, 1});
  twice.add(first.view());
  twice.add(second.view());
  const LayerUsage a = once.result();
  const LayerUsage b = twice.result();
  for (std::size_t g = 0; g < 2; ++g)
    for (std::size_t n = 0; n < 5; ++n)
      EXPECT_NEAR(a.columns[g][n].contribution, b.columns[g][n].contribution, 1e-12);
  for (std::size_t h = 0; h < 4; ++h) {
    EXPECT_NEAR(a.heads[h].energy, b.heads[h].energy, 1e-12);
    EXPECT_NEAR(a.heads[h].memory, b.heads[h].memory, 1e-10);
  }
}

TEST(LayerUsageSums, NamesWhatDoesNotFit) {
  const model::Mamba2Config c = sizes();
  Rows rows = random_rows(c, 3, 1, 1);
  rows.xbc.pop_back();
  LayerUsageSums sums(c, {1, 1, 1, 1}, {});
  EXPECT_THROW(sums.add(rows.view()), ShapeError);
  rows = random_rows(c, 3, 1, 1);
  rows.dy[0].pop_back();
  EXPECT_THROW(sums.add(rows.view()), ShapeError);
  EXPECT_THROW(LayerUsageSums(c, {1, 1, 1}, {}).add(random_rows(c, 3, 1, 1).view()), ShapeError);
  EXPECT_EQ(sums.result().heads[0].energy, 0) << "nothing was added";
}

}  // namespace
}  // namespace foxhunt::nn
