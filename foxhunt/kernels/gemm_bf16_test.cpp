// Packing and products in bf16 of every instruction set: against a rounding by comparison of
// neighbours, and sums in float64 of the rounded numbers.
#include "foxhunt/kernels/gemm_bf16.h"

#include <fmt/format.h>

#include <bit>
#include <limits>

#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

float from_bf16(std::uint32_t half) { return std::bit_cast<float>(half << 16U); }

/// The nearer of the two bf16 around x, of two equally near the one with an even last bit.
float nearest_bf16(float x) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(x);
  const float below = from_bf16(bits >> 16U);         // towards zero
  const float above = from_bf16((bits >> 16U) + 1U);  // away from it
  const double down = std::abs(static_cast<double>(x) - static_cast<double>(below));
  const double up = std::abs(static_cast<double>(above) - static_cast<double>(x));
  if (down != up) return down < up ? below : above;
  return ((bits >> 16U) & 1U) == 0U ? below : above;
}

class Bf16Test : public testing::TestWithParam<const Bf16Kernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << GetParam()->name << " does not run on this CPU";
  }
  const Bf16Kernels& kernels() const { return *GetParam(); }

  std::uint32_t rounded(float x) const {
    // 32 columns: through whole vectors, where numbers are rounded by other instructions.
    const std::vector<float> row(32, x);
    std::vector<std::uint32_t> pairs(16);
    kernels().pack_rows({1, 32, row.data(), 32, pairs.data()});
    for (const std::uint32_t pair : pairs) EXPECT_EQ(pair, pairs[0]);
    std::uint32_t tail = 0;
    kernels().pack_rows({1, 1, row.data(), 32, &tail});
    EXPECT_EQ(pairs[0], tail | tail << 16U) << "tails must round as whole vectors do";
    return tail;
  }
};

TEST_P(Bf16Test, RoundsToTheNearestTiesToEven) {
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const float x = static_cast<float>(rng.uniform(-1.0, 1.0) *
                                       std::exp2(std::floor(rng.uniform(-100.0, 100.0))));
    ASSERT_EQ(from_bf16(rounded(x)), nearest_bf16(x)) << x;
  }
  for (const std::uint32_t half : {0x3f80U, 0x3f81U, 0xc2ffU, 0x7f7eU}) {
    const std::uint32_t tie = half << 16U | 0x8000U;
    for (const std::uint32_t bits : {tie, tie - 1U, tie + 1U}) {
      const float x = std::bit_cast<float>(bits);
      ASSERT_EQ(from_bf16(rounded(x)), nearest_bf16(x)) << x;
    }
  }
}

TEST_P(Bf16Test, KeepsWhatIsNoNumberAndDropsDenormalNumbers) {
  using Limits = std::numeric_limits<float>;
  EXPECT_EQ(rounded(0.0F), 0U);
  EXPECT_EQ(rounded(-0.0F), 0x8000U);
  EXPECT_EQ(from_bf16(rounded(Limits::infinity())), Limits::infinity());
  EXPECT_EQ(from_bf16(rounded(-Limits::infinity())), -Limits::infinity());
  EXPECT_EQ(from_bf16(rounded(Limits::max())), Limits::infinity()) << "nearer than any bf16";
  for (const std::uint32_t bits : {0x7fc00000U, 0xffffffffU, 0x7f800001U}) {
    EXPECT_TRUE(std::isnan(from_bf16(rounded(std::bit_cast<float>(bits))))) << bits;
  }
  EXPECT_EQ(rounded(Limits::denorm_min()), 0U);
  EXPECT_EQ(rounded(-0x1.fp-127F), 0x8000U);
  EXPECT_EQ(from_bf16(rounded(Limits::min())), Limits::min());
}

/// A side of a product, packed, beside the numbers it stands for.
struct Case {
  std::int64_t m, n, depth;
  bool a_turned, b_turned, accumulate;
};

constexpr float kUntouched = 77.0F;
constexpr std::uint32_t kGuard = 0xabcdabcdU;

/// [rows, columns] with a longer stride, packed by `pack` into `words` words, none beyond.
struct Packed {
  Packed(Rng& rng, std::int64_t rows, std::int64_t columns, std::int64_t words, Bf16PackFn pack)
      : row(columns + 3), in(random_floats(rng, rows * row + 1)), out(at(words + 1), kGuard) {
    pack({rows, columns, in.data(), row, out.data()});
    EXPECT_EQ(out.back(), kGuard) << "written beyond the words";
  }
  double number(std::int64_t r, std::int64_t c) const {
    return static_cast<double>(nearest_bf16(in[at(r * row + c)]));
  }
  std::int64_t row;
  std::vector<float> in;
  std::vector<std::uint32_t> out;
};

std::vector<float> expect_product(const Bf16Kernels& kernels, const Case& c) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, turned {} {}, accumulate {}", c.m, c.n, c.depth,
                           c.a_turned, c.b_turned, c.accumulate));
  Rng rng(static_cast<std::uint64_t>(c.m * 10007 + c.n * 101 + c.depth));
  const std::int64_t pairs = bf16_pairs(c.depth);
  const Packed a(rng, c.a_turned ? c.depth : c.m, c.a_turned ? c.m : c.depth, c.m * pairs,
                 c.a_turned ? kernels.pack_turned : kernels.pack_rows);
  const Packed b(rng, c.b_turned ? c.n : c.depth, c.b_turned ? c.depth : c.n,
                 bf16_panels_size(c.depth, c.n),
                 c.b_turned ? kernels.pack_panels_turned : kernels.pack_panels);
  const std::int64_t c_row = c.n + 5;
  std::vector<float> out(at(c.m * c_row + 1), kUntouched);
  kernels.gemm({c.m, c.n, pairs, a.out.data(), c.a_turned ? 1 : pairs, c.a_turned ? c.m : 1,
                b.out.data(), out.data(), c_row, c.accumulate});
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      double want = c.accumulate ? static_cast<double>(kUntouched) : 0.0;
      for (std::int64_t k = 0; k < c.depth; ++k) {
        want += (c.a_turned ? a.number(k, i) : a.number(i, k)) *
                (c.b_turned ? b.number(j, k) : b.number(k, j));
      }
      // Products are exact; a rounding of 6e-8 a term of at most 1, and of the 77 begun with.
      const double bound = 6e-8 * (static_cast<double>(c.depth) + (c.accumulate ? 100.0 : 1.0));
      EXPECT_NEAR(static_cast<double>(out[at(i * c_row + j)]), want, bound) << i << ", " << j;
      if (testing::Test::HasFailure()) return out;
    }
    for (std::int64_t j = c.n; j < c_row; ++j) {
      EXPECT_EQ(out[at(i * c_row + j)], kUntouched) << "written beyond row " << i;
    }
  }
  return out;
}

TEST_P(Bf16Test, MeetsFloat64OnEverySmallSizeAndTransposition) {
  for (std::int64_t m = 1; m <= 27; m += m < 14 ? 1 : 5) {
    for (std::int64_t n = 1; n <= 70; n += n < 34 ? 3 : 9) {
      for (int form = 0; form < 4; ++form) {
        const std::int64_t depth = 1 + (m * 7 + n * 3 + form) % 37;
        expect_product(kernels(), {m, n, depth, form % 2 == 1, form / 2 == 1, (m + n) % 2 == 0});
        if (HasFailure()) return;
      }
    }
  }
}

TEST_P(Bf16Test, MeetsFloat64OnTheSizesOfLayers) {
  expect_product(kernels(), {128, 292, 64, false, true, false});
  expect_product(kernels(), {128, 64, 292, false, false, false});
  expect_product(kernels(), {292, 64, 128, true, false, true});
  expect_product(kernels(), {33, 1160, 101, false, true, true});
}

TEST_P(Bf16Test, ADepthOfZeroLeavesZerosOrWhatWasThere) {
  expect_product(kernels(), {3, 5, 0, false, false, false});
  expect_product(kernels(), {3, 5, 0, true, true, true});
}

// So that slices of a batch, of any number of threads, give what the whole batch gives.
TEST_P(Bf16Test, ARowsSumsDoNotDependOnTheRowsBesideIt) {
  const std::vector<float> whole = expect_product(kernels(), {29, 45, 51, false, true, false});
  Rng rng(29 * 10007 + 45 * 101 + 51);
  const Packed a(rng, 29, 51, std::int64_t{29} * 26, kernels().pack_rows);
  const Packed b(rng, 45, 51, bf16_panels_size(51, 45), kernels().pack_panels_turned);
  for (std::int64_t i = 0; i < 29; ++i) {
    std::vector<float> row(45);
    kernels().gemm({1, 45, 26, a.out.data() + i * 26, 26, 1, b.out.data(), row.data(), 45, false});
    for (std::int64_t j = 0; j < 45; ++j) ASSERT_EQ(row[at(j)], whole[at(i * 50 + j)]) << i;
  }
}

TEST_P(Bf16Test, PacksTheSameBitsAsThePortableForm) {
  const Bf16Kernels& portable = kScalarBf16Kernels;
  struct Sizes {
    std::int64_t rows, columns;
  };
  for (const Sizes& size : {Sizes{1, 1}, {7, 33}, {8, 16}, {16, 48}, {33, 100}, {41, 47}}) {
    const std::int64_t rows = size.rows;
    const std::int64_t columns = size.columns;
    const auto same = [&](std::int64_t words, Bf16PackFn ours, Bf16PackFn theirs) {
      Rng rng(5);
      const Packed one(rng, rows, columns, words, ours);
      Rng again(5);
      EXPECT_EQ(one.out, Packed(again, rows, columns, words, theirs).out)
          << rows << " x " << columns;
    };
    same(rows * bf16_pairs(columns), kernels().pack_rows, portable.pack_rows);
    same(columns * bf16_pairs(rows), kernels().pack_turned, portable.pack_turned);
    same(bf16_panels_size(rows, columns), kernels().pack_panels, portable.pack_panels);
    same(bf16_panels_size(columns, rows), kernels().pack_panels_turned,
         portable.pack_panels_turned);
  }
}

INSTANTIATE_TEST_SUITE_P(Built, Bf16Test,
                         testing::ValuesIn(built_bf16_kernels().begin(),
                                           built_bf16_kernels().end()),
                         [](const testing::TestParamInfo<const Bf16Kernels*>& table) {
                           return std::string(table.param->name);
                         });

}  // namespace
}  // namespace foxhunt::kernels
