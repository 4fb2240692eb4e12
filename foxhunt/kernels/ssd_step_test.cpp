// One token at a time against the window, and the elementwise kernels against closed forms.
#include <algorithm>

#include "foxhunt/kernels/reference_mixer.h"
#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

using SsdStepTest = TableTest;

/// One stream through the recurrence in float64, state as the kernels hold it.
struct Stream {
  SsdShape shape;
  std::vector<double> state;

  std::vector<double> step(const std::vector<float>& x, const std::vector<float>& B,
                           const std::vector<float>& C, const std::vector<float>& dt,
                           const std::vector<float>& A, const std::vector<float>& D) {
    const std::int64_t P = shape.headdim;
    const std::int64_t r = shape.heads / shape.groups;
    std::vector<double> y;
    for (std::int64_t h = 0; h < shape.heads; ++h) {
      const std::int64_t g = h / r;
      const auto hh = static_cast<std::size_t>(h);
      const double decay = std::exp(static_cast<double>(dt[hh]) * static_cast<double>(A[hh]));
      for (std::int64_t p = 0; p < P; ++p) {
        const auto xp = static_cast<double>(x[static_cast<std::size_t>(h * P + p)]);
        double sum = static_cast<double>(D[hh]) * xp;
        for (std::int64_t n = 0; n < shape.d_state; ++n) {
          const auto gn = static_cast<std::size_t>(g * shape.d_state + n);
          double& s = state[static_cast<std::size_t>((g * shape.d_state + n) * r * P +
                                                     (h - g * r) * P + p)];
          s = decay * s + static_cast<double>(dt[hh]) * xp * static_cast<double>(B[gn]);
          sum += s * static_cast<double>(C[gn]);
        }
        y.push_back(sum);
      }
    }
    return y;
  }
};

TEST_P(SsdStepTest, AnswersFromTheOldStateAndThenAdvancesIt) {
  for (const SsdShape& shape : {SsdShape{1, 1, 1, 1}, SsdShape{3, 5, 3, 7}, SsdShape{4, 32, 1, 16},
                                SsdShape{6, 17, 2, 33}, SsdShape{2, 64, 1, 100}}) {
    Rng rng(3);
    const std::int64_t inner = inner_width(shape);
    const std::int64_t gn = shape.groups * shape.d_state;
    std::vector<float> state = random_floats(rng, state_size(shape));
    Stream exact{shape, {state.begin(), state.end()}};
    const std::vector<float> A = random_floats(rng, shape.heads, -2.0, -0.1);
    const std::vector<float> D = random_floats(rng, shape.heads);
    for (int t = 0; t < 40; ++t) {
      const std::vector<float> x = random_floats(rng, inner);
      const std::vector<float> B = random_floats(rng, gn);
      const std::vector<float> C = random_floats(rng, gn);
      const std::vector<float> dt = random_floats(rng, shape.heads, 0.01, 1.0);
      std::vector<float> y(static_cast<std::size_t>(inner), NAN);
      std::vector<float> decay(static_cast<std::size_t>(shape.heads), NAN);
      const std::vector<float> before = state;
      const SsdStep<float> step{x.data(), B.data(),     C.data(), dt.data(),   A.data(),
                                D.data(), state.data(), y.data(), decay.data()};
      kernels().ssd_answer(shape, step);
      EXPECT_EQ(state, before) << "the answer only reads";
      kernels().ssd_advance(shape, step);
      const std::vector<double> want = exact.step(x, B, C, dt, A, D);
      double scale = 1.0;
      for (const double v : want) scale = std::max(scale, std::abs(v));
      for (std::size_t i = 0; i < want.size(); ++i) {
        // 3e-6 of the largest: float32 over 40 tokens of a state that forgets.
        ASSERT_NEAR(static_cast<double>(y[i]), want[i], 3e-6 * scale) << "token " << t;
      }
    }
    for (std::size_t i = 0; i < state.size(); ++i) {
      ASSERT_NEAR(static_cast<double>(state[i]), exact.state[i], 3e-6);
    }
  }
}

TEST_P(SsdStepTest, AHundredThousandStepsDoNotDrift) {
  const SsdShape shape{2, 16, 1, 8};
  Rng rng(8);
  const std::vector<float> A{-0.001F, -1.0F};  // a memory of ten thousand tokens, and a short one
  const std::vector<float> D{0.5F, -0.5F};
  std::vector<float> state(static_cast<std::size_t>(state_size(shape)), 0.0F);
  Stream exact{shape, {state.begin(), state.end()}};
  double worst = 0.0;
  double scale = 1.0;
  for (int t = 0; t < 100'000; ++t) {
    const std::vector<float> x = random_floats(rng, inner_width(shape));
    const std::vector<float> B = random_floats(rng, shape.d_state);
    const std::vector<float> C = random_floats(rng, shape.d_state);
    const std::vector<float> dt = random_floats(rng, shape.heads, 0.01, 0.2);
    std::vector<float> y(x.size(), NAN);
    std::vector<float> decay(dt.size(), NAN);
    const SsdStep<float> step{x.data(), B.data(),     C.data(), dt.data(),   A.data(),
                              D.data(), state.data(), y.data(), decay.data()};
    kernels().ssd_answer(shape, step);
    kernels().ssd_advance(shape, step);
    const std::vector<double> want = exact.step(x, B, C, dt, A, D);
    for (std::size_t i = 0; i < want.size(); ++i) {
      scale = std::max(scale, std::abs(want[i]));
      worst = std::max(worst, std::abs(static_cast<double>(y[i]) - want[i]));
    }
  }
  // Roundings of 6e-8 a step, kept for ten thousand steps and of either sign: 100 * 6e-8.
  EXPECT_LT(worst / scale, 6e-6);
}

TEST_P(SsdStepTest, AdamWIsItsFormula) {
  Rng rng(5);
  for (const std::int64_t n : {1, 7, 16, 33, 1000}) {
    std::vector<float> w = random_floats(rng, n);
    std::vector<float> m = random_floats(rng, n, -0.1, 0.1);
    std::vector<float> v = random_floats(rng, n, 0.0, 0.1);
    const std::vector<float> g = random_floats(rng, n);
    const std::vector<float> w0 = w;
    const std::vector<float> m0 = m;
    const std::vector<float> v0 = v;
    kernels().adamw(
        {n, w.data(), m.data(), v.data(), g.data(), 0.5F, 0.01F, 0.02F, 1.1F, 0.9F, 0.95F, 1e-8F});
    for (std::size_t i = 0; i < w.size(); ++i) {
      const double grad = 0.5 * static_cast<double>(g[i]);
      const double mean = 0.9 * static_cast<double>(m0[i]) + 0.1 * grad;
      const double square = 0.95 * static_cast<double>(v0[i]) + 0.05 * grad * grad;
      const double want =
          static_cast<double>(w0[i]) * 0.99 - 0.02 * mean / (std::sqrt(square) * 1.1 + 1e-8);
      // A few roundings of numbers of at most 1; 0.9F and its like are off by 2e-8 themselves.
      EXPECT_NEAR(static_cast<double>(m[i]), mean, 2e-7);
      EXPECT_NEAR(static_cast<double>(v[i]), square, 2e-7);
      EXPECT_NEAR(static_cast<double>(w[i]), want, 5e-7);
    }
  }
}

TEST_P(SsdStepTest, PartsAreAddedInOrderAndSquared) {
  Rng rng(6);
  for (const std::int64_t n : {1, 15, 4096, 4097, 10'000}) {
    std::vector<std::vector<float>> parts(3);
    for (auto& part : parts) part = random_floats(rng, n);
    std::vector<const float*> places{parts[0].data(), parts[1].data(), parts[2].data()};
    std::vector<float> sum(static_cast<std::size_t>(n), NAN);
    const double squares = kernels().sum_parts(n, 3, places.data(), sum.data());
    double want = 0.0;
    for (std::size_t i = 0; i < sum.size(); ++i) {
      ASSERT_EQ(sum[i], (parts[0][i] + parts[1][i]) + parts[2][i]);
      want += static_cast<double>(sum[i]) * static_cast<double>(sum[i]);
    }
    EXPECT_NEAR(squares, want, 1e-5 * want);  // float32 inside a block of 4096
    std::vector<float> in_place = parts[0];
    places[0] = in_place.data();
    kernels().sum_parts(n, 3, places.data(), in_place.data());
    EXPECT_EQ(in_place, sum);
  }
}

FX_FOR_EACH_TABLE(SsdStepTest);

TEST(PickKernels, NamesTheChoicesWhenAskedForAnUnknownOne) {
  EXPECT_STREQ(pick_kernels("scalar").name, "scalar");
  EXPECT_TRUE(pick_kernels().runs_here());
  try {
    pick_kernels("avx9000");
    FAIL() << "expected an error";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("'avx9000'"), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("scalar"), std::string::npos);
  }
}

}  // namespace
}  // namespace foxhunt::kernels
