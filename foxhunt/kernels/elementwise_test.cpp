// The elementwise kernels against closed forms.
#include <algorithm>

#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

using ElementwiseTest = TableTest;

TEST_P(ElementwiseTest, AdamWIsItsFormula) {
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

/// The definition: a node is the sum of its halves; a half behind the last part is not there.
float sum_of_node(const std::vector<std::vector<float>>& parts, std::size_t begin,
                  std::size_t width, std::size_t i) {
  if (width == 1) return parts[begin][i];
  const std::size_t middle = begin + width / 2;
  const float left = sum_of_node(parts, begin, width / 2, i);
  return middle < parts.size() ? left + sum_of_node(parts, middle, width / 2, i) : left;
}

TEST_P(ElementwiseTest, PartsAreAddedAlongTheTreeOfTheirNumbersAndSquared) {
  Rng rng(6);
  for (const std::int64_t n : {1, 15, 4096, 4097, 10'000}) {
    for (const std::int64_t count : {1, 2, 3, 4, 5, 7, 8, 9, 11, 15, 16, 17, 24, 29, 40}) {
      if (n > 4097 && count > 5) continue;
      std::vector<std::vector<float>> parts(static_cast<std::size_t>(count));
      std::vector<const float*> places;
      for (auto& part : parts) places.push_back((part = random_floats(rng, n)).data());
      std::vector<float> sum(static_cast<std::size_t>(n), NAN);
      const double squares = kernels().sum_parts(n, count, places.data(), sum.data());
      double want = 0.0;
      for (std::size_t i = 0; i < sum.size(); ++i) {
        ASSERT_EQ(sum[i], sum_of_node(parts, 0, 64, i)) << count << " parts";
        want += static_cast<double>(sum[i]) * static_cast<double>(sum[i]);
      }
      EXPECT_NEAR(squares, want, 1e-5 * want);  // float32 inside a block of 4096
      std::vector<float> in_place = parts[0];
      places[0] = in_place.data();
      kernels().sum_parts(n, count, places.data(), in_place.data());
      EXPECT_EQ(in_place, sum);
    }
  }
}

FX_FOR_EACH_TABLE(ElementwiseTest);

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
