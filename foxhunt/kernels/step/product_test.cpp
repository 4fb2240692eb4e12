// Every product kernel against float64 sums of the very numbers that it holds.
#include "foxhunt/kernels/step/product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/step/aligned_block.h"
#include "foxhunt/kernels/step/pack.h"
#include "foxhunt/kernels/step/step_kernels.h"
#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

std::vector<const ProductKernel*> all_products() {
  std::vector<const ProductKernel*> all;
  for (const WeightType type :
       {WeightType::kF32, WeightType::kF16, WeightType::kBF16, WeightType::kI8}) {
    for (const ProductKernel* kernel : built_products(type)) all.push_back(kernel);
  }
  return all;
}

/// An input as the kernel rounds it, in float64.
std::vector<double> rounded(const std::vector<float>& x, std::int64_t in, WeightType type) {
  std::vector<double> values(x.begin(), x.begin() + in);
  if (type == WeightType::kBF16) {
    for (double& v : values) v = static_cast<double>(from_bf16(to_bf16(static_cast<float>(v))));
  }
  if (type == WeightType::kI8) {
    double largest = 0;
    for (const double v : values) largest = std::max(largest, std::abs(v));
    for (double& v : values)
      v = largest > 0 ? std::nearbyint(v / largest * 127) * largest / 127 : 0;
  }
  return values;
}

class ProductTest : public testing::TestWithParam<const ProductKernel*> {
 protected:
  void SetUp() override {
    if (!kernel().runs_here()) GTEST_SKIP() << kernel().name << " does not run on this CPU";
  }
  static const ProductKernel& kernel() { return *GetParam(); }
};

struct Case {
  std::int64_t out, in;
};
constexpr Case kCases[] = {{1, 1},   {3, 64},  {16, 16},  {17, 5},   {64, 128}, {292, 64},
                           {33, 63}, {100, 7}, {200, 24}, {400, 33}, {513, 10}};

/// A packed matrix with its block, and inputs of several streams in padded rows.
struct Problem {
  Problem(const Case& c, const ProductKernel& kernel, Rng& rng, bool with_bias)
      : weight(random_floats(rng, c.out * c.in)),
        fold(random_floats(rng, c.in, 0.5, 2.0)),
        bias(random_floats(rng, c.out)),
        block(static_cast<std::size_t>(packed_bytes(c.out, c.in, kernel))),
        scratch(static_cast<std::size_t>(product_scratch(c.in))),
        matrix(pack_matrix(c.out, c.in, weight.data(), fold.data(),
                           with_bias ? bias.data() : nullptr, kernel, block.data())) {
    for (std::int64_t s = 0; s < kMostStreams; ++s) {
      x.push_back(random_floats(rng, padded(c.in), -3.0, 3.0));
      gain.push_back(static_cast<float>(rng.uniform(0.2, 3.0)));
    }
  }
  /// What y was before holds `start`; afterwards rows of padded(out).
  std::vector<std::vector<float>> run(const ProductKernel& kernel, std::size_t first,
                                      std::size_t streams, bool add, float start) {
    std::vector<std::vector<float>> y(
        streams, std::vector<float>(static_cast<std::size_t>(padded(matrix.out)), start));
    Product p{};
    p.streams = static_cast<std::int64_t>(streams);
    p.add = add;
    p.scratch = scratch.data();
    for (std::size_t s = 0; s < streams; ++s) {
      p.x[s] = x[first + s].data();
      p.y[s] = y[s].data();
      p.gain[s] = gain[first + s];
    }
    kernel.run(matrix, p);
    return y;
  }

  std::vector<float> weight, fold, bias, gain;
  std::vector<std::vector<float>> x;
  AlignedBlock block, scratch;
  PackedMatrix matrix;
};

TEST_P(ProductTest, SumsWhatItHolds) {
  Rng rng(11);
  for (const Case& c : kCases) {
    for (const bool add : {false, true}) {
      Problem problem(c, kernel(), rng, /*with_bias=*/add);
      const std::vector<float> held = unpack_matrix(problem.matrix, kernel());
      const float start = add ? 0.75F : std::numeric_limits<float>::quiet_NaN();
      const auto y = problem.run(kernel(), 0, 1, add, start);
      const std::vector<double> x = rounded(problem.x[0], c.in, kernel().type);
      for (std::int64_t o = 0; o < c.out; ++o) {
        double sum = 0;
        double size = 0;
        for (std::int64_t k = 0; k < c.in; ++k) {
          const double part = static_cast<double>(held[static_cast<std::size_t>(o * c.in + k)]) *
                              x[static_cast<std::size_t>(k)];
          sum += part;
          size += std::abs(part);
        }
        const auto gain = static_cast<double>(problem.gain[0]);
        double want = gain * sum;
        if (add) want += static_cast<double>(problem.bias[static_cast<std::size_t>(o)]) + 0.75;
        // Float sums of `in` parts: a rounding each. Halves are summed in chains of eight.
        const double unit = std::string(kernel().name) == "avx512fp16" ? 4e-3 : 6e-8;
        const double bound = gain * size * unit * static_cast<double>(c.in + 3) + 3e-7;
        ASSERT_NEAR(static_cast<double>(y[0][static_cast<std::size_t>(o)]), want, bound)
            << c.out << " x " << c.in << ", row " << o;
      }
    }
  }
}

TEST_P(ProductTest, StreamsTogetherGiveTheBitsOfEachAlone) {
  Rng rng(12);
  for (const Case& c : kCases) {
    Problem problem(c, kernel(), rng, /*with_bias=*/true);
    for (std::size_t streams = 2; streams <= kMostStreams; ++streams) {
      const auto together = problem.run(kernel(), 0, streams, true, 0.5F);
      for (std::size_t s = 0; s < streams; ++s) {
        const auto alone = problem.run(kernel(), s, 1, true, 0.5F);
        for (std::size_t o = 0; o < static_cast<std::size_t>(c.out); ++o) {
          ASSERT_EQ(together[s][o], alone[0][o]) << c.out << " x " << c.in << ", stream " << s;
        }
      }
    }
  }
}

TEST_P(ProductTest, ANullInputGivesTheBias) {
  Rng rng(13);
  Problem problem({37, 19}, kernel(), rng, /*with_bias=*/true);
  std::fill(problem.x[0].begin(), problem.x[0].end(), 0.0F);
  const auto y = problem.run(kernel(), 0, 1, false, std::numeric_limits<float>::quiet_NaN());
  for (std::size_t o = 0; o < 37; ++o) EXPECT_EQ(y[0][o], problem.bias[o]);
}

TEST_P(ProductTest, HoldsWeightsAsCloselyAsItsTypeCan) {
  Rng rng(14);
  const Case c{70, 33};
  Problem problem(c, kernel(), rng, /*with_bias=*/false);
  const std::vector<float> held = unpack_matrix(problem.matrix, kernel());
  for (std::int64_t o = 0; o < c.out; ++o) {
    double largest = 0;
    std::vector<double> row;
    for (std::int64_t k = 0; k < c.in; ++k) {
      const std::size_t at = static_cast<std::size_t>(o * c.in + k);
      row.push_back(
          static_cast<double>(problem.weight[at] * problem.fold[static_cast<std::size_t>(k)]));
      largest = std::max(largest, std::abs(row.back()));
    }
    for (std::int64_t k = 0; k < c.in; ++k) {
      const double want = row[static_cast<std::size_t>(k)];
      double bound = 0;  // half a unit in the last place of the type
      switch (kernel().type) {
        case WeightType::kF32:
          break;
        case WeightType::kF16:
          bound = std::abs(want) * 0x1p-11 + 0x1p-25;
          break;
        case WeightType::kBF16:
          bound = std::abs(want) * 0x1p-8;
          break;
        case WeightType::kI8:
          bound = largest / 254 * (1 + 1e-6);
          break;
      }
      ASSERT_NEAR(static_cast<double>(held[static_cast<std::size_t>(o * c.in + k)]), want, bound);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Built, ProductTest, testing::ValuesIn(all_products()),
                         [](const auto& kernel) {
                           return std::string(to_string(kernel.param->type)) + "_" +
                                  kernel.param->name;
                         });

TEST(Pack, RoundsHalvesToTheNearestEven) {
  EXPECT_EQ(to_f16(1.0F), 0x3c00);
  EXPECT_EQ(to_f16(-65504.0F), 0xfbff);
  EXPECT_EQ(to_f16(0x1p-24F), 1);
  EXPECT_EQ(to_f16(0x1p-25F), 0);    // a tie: to even
  EXPECT_EQ(to_f16(0x1.8p-24F), 2);  // a tie: to even
  EXPECT_EQ(to_f16(1.0F + 0x1p-11F), 0x3c00);
  EXPECT_EQ(to_f16(1.0F + 0x3p-11F), 0x3c02);
  for (std::uint32_t bits = 0; bits < 0x7c00U; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(to_f16(from_f16(half)), half);
  }
}

TEST(Pack, RefusesWhatTheTypeCannotHold) {
  const ProductKernel& kernel = *built_products(WeightType::kF16).back();
  AlignedBlock block(static_cast<std::size_t>(packed_bytes(1, 2, kernel)));
  const float large[] = {1.0F, 70'000.0F};
  try {
    pack_matrix(1, 2, large, nullptr, nullptr, kernel, block.data());
    FAIL() << "expected an error";
  } catch (const ConfigError& error) {
    EXPECT_NE(std::string(error.what()).find("[0, 1] = 70000"), std::string::npos) << error.what();
  }
}

TEST(PickStepKernels, GivesATableOnlyWhatItAsksFor) {
  for (const WeightType type :
       {WeightType::kF32, WeightType::kF16, WeightType::kBF16, WeightType::kI8}) {
    EXPECT_STREQ(product_for(kScalarStep, type).name, "scalar");
    EXPECT_NE(std::string(product_for(kAvx2Step, type).table), "avx512");
  }
  EXPECT_THROW(pick_step_kernels("avx9000"), ConfigError);
  EXPECT_STREQ(pick_step_kernels("scalar").name, "scalar");
}

}  // namespace
}  // namespace foxhunt::kernels
