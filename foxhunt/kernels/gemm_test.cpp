// The matrix kernel of every table against sums in float64: sizes, strides, triangles, packed form.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

using GemmTest = TableTest;

struct Case {
  std::int64_t m, n, depth;
  bool turned;  ///< a is read down its columns
  bool accumulate;
  Triangle triangle = Triangle::kNone;
};

constexpr float kUntouched = 77.0F;

void expect_product(const KernelTable& kernels, const Case& c) {
  SCOPED_TRACE(fmt::format("{} x {} x {}, turned {}, accumulate {}, triangle {}", c.m, c.n, c.depth,
                           c.turned, c.accumulate, static_cast<int>(c.triangle)));
  Rng rng(static_cast<std::uint64_t>(c.m * 10007 + c.n * 101 + c.depth));
  const std::int64_t a_ld = (c.turned ? c.m : c.depth) + 3;
  const std::int64_t b_ld = c.n + 2;
  const std::int64_t c_ld = c.n + 5;
  std::vector<float> a = random_floats(rng, (c.turned ? c.depth : c.m) * a_ld + 1);
  const std::vector<float> b = random_floats(rng, c.depth * b_ld + 1);
  std::vector<float> out(static_cast<std::size_t>(c.m * c_ld + 1), kUntouched);
  const std::int64_t a_row = c.turned ? 1 : a_ld;
  const std::int64_t a_col = c.turned ? a_ld : 1;
  const auto at = [](std::int64_t i) { return static_cast<std::size_t>(i); };
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t k = 0; k < c.depth; ++k) {
      const bool zero =
          (c.triangle == Triangle::kLower && k > i) || (c.triangle == Triangle::kUpper && k < i);
      if (zero) a[at(i * a_row + k * a_col)] = 0.0F;
    }
  }
  kernels.gemm({c.m, c.n, c.depth, a.data(), a_row, a_col, b.data(), b_ld, out.data(), c_ld,
                c.accumulate, c.triangle});
  for (std::int64_t i = 0; i < c.m; ++i) {
    for (std::int64_t j = 0; j < c.n; ++j) {
      if (c.triangle == Triangle::kLowerOut && j > i) continue;
      double want = c.accumulate ? kUntouched : 0.0;
      for (std::int64_t k = 0; k < c.depth; ++k) {
        want += static_cast<double>(a[at(i * a_row + k * a_col)]) *
                static_cast<double>(b[at(k * b_ld + j)]);
      }
      // A rounding of 6e-8 a term of at most 1, and of the 77 begun with.
      const double bound = 6e-8 * (static_cast<double>(c.depth) + (c.accumulate ? 100.0 : 1.0));
      ASSERT_NEAR(static_cast<double>(out[at(i * c_ld + j)]), want, bound) << i << ", " << j;
    }
    for (std::int64_t j = c.n; j < c_ld && i * c_ld + j < c.m * c_ld; ++j) {
      ASSERT_EQ(out[at(i * c_ld + j)], kUntouched) << "written beyond row " << i;
    }
  }
}

TEST_P(GemmTest, MeetsFloat64OnEverySmallSize) {
  for (std::int64_t m = 1; m <= 27; m += m < 14 ? 1 : 5) {
    for (std::int64_t n = 1; n <= 70; n += n < 34 ? 3 : 9) {
      expect_product(kernels(), {m, n, 7, false, false});
      expect_product(kernels(), {m, n, 5, true, true});
    }
  }
}

TEST_P(GemmTest, MeetsFloat64OnTheSizesOfLayers) {
  expect_product(kernels(), {128, 292, 64, false, false});
  expect_product(kernels(), {292, 64, 512, true, true});
  expect_product(kernels(), {33, 1160, 100, false, true});
}

TEST_P(GemmTest, ADepthOfZeroLeavesZerosOrWhatWasThere) {
  expect_product(kernels(), {3, 5, 0, false, false});
  expect_product(kernels(), {3, 5, 0, false, true});
}

TEST_P(GemmTest, TrianglesLeaveOutOnlyZeros) {
  for (const std::int64_t q : {1, 2, 5, 12, 13, 16, 31, 32, 64}) {
    for (const Triangle triangle : {Triangle::kLower, Triangle::kUpper, Triangle::kLowerOut}) {
      expect_product(kernels(), {q, 33, q, false, false, triangle});
      expect_product(kernels(), {q, q, q, true, true, triangle});
    }
  }
}

TEST_P(GemmTest, TransposeTurnsEveryShape) {
  Rng rng(9);
  for (std::int64_t rows = 1; rows < 40; rows += 3) {
    for (std::int64_t columns = 1; columns < 40; columns += 2) {
      const std::vector<float> in = random_floats(rng, rows * (columns + 1));
      std::vector<float> out(static_cast<std::size_t>(columns * (rows + 2)), kUntouched);
      kernels().transpose(rows, columns, in.data(), columns + 1, out.data(), rows + 2);
      for (std::int64_t c = 0; c < columns; ++c) {
        for (std::int64_t r = 0; r < rows; ++r) {
          ASSERT_EQ(out[static_cast<std::size_t>(c * (rows + 2) + r)],
                    in[static_cast<std::size_t>(r * (columns + 1) + c)]);
        }
        ASSERT_EQ(out[static_cast<std::size_t>(c * (rows + 2) + rows)], kUntouched);
      }
    }
  }
}

FX_FOR_EACH_TABLE(GemmTest);

}  // namespace
}  // namespace foxhunt::kernels
