// Resets: each segment as if it stood alone, and nothing through the wall between two.
#include "foxhunt/kernels/scan/segmented.h"

#include <gtest/gtest.h>

#include <bit>
#include <initializer_list>
#include <limits>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/scan/decay.h"
#include "foxhunt/kernels/scan/scan_test_support.h"

namespace foxhunt::kernels {
namespace {

using test::Concat;
using test::Matrices;
using test::Sum;
using test::with_every_algorithm;
using Flags = std::vector<std::uint8_t>;
using Step = DecayStep<float>;
using Product = DecayOperator<float>;

Flags draw_resets(std::size_t size, double share, Rng& rng) {
  Flags resets(size);
  for (auto& flag : resets) flag = rng.uniform() < share ? 1 : 0;
  return resets;
}

/// The definition: cut at resets, each part by itself, the first one from `start` unless it is cut
/// off too.
template <class Op>
std::vector<ScanValue<Op>> by_segment(const Op& op, const std::vector<ScanValue<Op>>& in,
                                      const Flags& resets, Inclusion inclusion,
                                      const ScanValue<Op>& start) {
  std::vector<ScanValue<Op>> out;
  std::size_t from = 0;
  for (std::size_t t = 1; t <= in.size(); ++t) {
    if (t < in.size() && resets[t] == 0) continue;
    const std::vector<ScanValue<Op>> part(in.begin() + static_cast<std::ptrdiff_t>(from),
                                          in.begin() + static_cast<std::ptrdiff_t>(t));
    const bool first = from == 0 && resets[0] == 0;
    const auto done = test::prefixes(op, part, inclusion, first ? start : op.identity());
    out.insert(out.end(), done.begin(), done.end());
    from = t;
  }
  return out;
}

template <class Op>
class SegmentedTest : public testing::Test {};
using Operators = testing::Types<Sum, Concat, Matrices>;
TYPED_TEST_SUITE(SegmentedTest, Operators);

TYPED_TEST(SegmentedTest, EachSegmentIsScannedAsIfAloneByEveryAlgorithm) {
  const TypeParam op;
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 2, 3, 7, 16, 37, 70, 300}) {
    for (const double share : {0.0, 0.1, 0.5, 1.0}) {
      Rng rng(size + 1);
      const auto in = test::draw<TypeParam>(size, rng);
      const auto start = TypeParam::draw(rng);
      const Flags resets = draw_resets(size, share, rng);
      for (const Inclusion inclusion : {Inclusion::kInclusive, Inclusion::kExclusive}) {
        const auto want = by_segment(op, in, resets, inclusion, start);
        with_every_algorithm([&](const auto& algorithm, const std::string& name) {
          auto out = in;
          segmented_scan(algorithm, op, in, resets, out, inclusion, start);
          ASSERT_EQ(out, want) << name << ", length " << size << ", resets " << share;
          out = in;
          segmented_scan(algorithm, op, out, resets, out, inclusion, start);
          ASSERT_EQ(out, want) << name << " in place, length " << size << ", resets " << share;
        });
      }
    }
  }
}

std::vector<Step> draw_steps(std::size_t size, Rng& rng) {
  std::vector<Step> steps(size);
  for (Step& s : steps) {
    s.decay = static_cast<float>(rng.uniform());
    s.increment[0] = static_cast<float>(rng.normal());
  }
  return steps;
}

bool same_bits(const Step& a, const Step& b) {
  const auto bits = [](float x) { return std::bit_cast<std::uint32_t>(x); };
  return bits(a.decay) == bits(b.decay) && bits(a.increment[0]) == bits(b.increment[0]);
}

TEST(Segmented, SequentialEqualsEachSegmentAloneBitForBit) {
  Rng rng(2);
  const auto in = draw_steps(500, rng);
  const Flags resets = draw_resets(in.size(), 0.05, rng);
  const auto want = by_segment(Product(), in, resets, Inclusion::kInclusive, Product().identity());
  auto out = in;
  segmented_scan(SequentialScan{}, Product(), in, resets, out);
  for (std::size_t t = 0; t < in.size(); ++t) EXPECT_TRUE(same_bits(out[t], want[t])) << t;
}

TEST(Segmented, NotOneBitLeaksThroughAReset) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  Rng rng(6);
  const auto in = draw_steps(150, rng);
  for (const std::size_t wall :
       std::initializer_list<std::size_t>{1, 2, 31, 32, 33, 64, 100, 149}) {
    Flags resets(in.size());
    resets[wall] = 1;
    for (const Inclusion inclusion : {Inclusion::kInclusive, Inclusion::kExclusive}) {
      for (const float poison : {kNan, kInf, 1e30F}) {
        std::vector<Step> other = in;
        for (std::size_t t = 0; t < wall; ++t) other[t] = {{poison}, poison};
        with_every_algorithm([&](const auto& algorithm, const std::string& name) {
          std::vector<Step> a(in.size());
          std::vector<Step> b(in.size());
          segmented_scan(algorithm, Product(), in, resets, a, inclusion);
          segmented_scan(algorithm, Product(), other, resets, b, inclusion, {{poison}, poison});
          EXPECT_FALSE(same_bits(a[wall - 1], b[wall - 1])) << name << ": nothing was perturbed";
          for (std::size_t t = wall; t < in.size(); ++t) {
            ASSERT_TRUE(same_bits(a[t], b[t])) << name << ", wall " << wall << ", at " << t;
          }
        });
      }
    }
  }
}

TEST(Segmented, IsAsAssociativeAsWhatItLifts) {
  const Segmented<Concat> op{{}};
  using Value = SegmentedValue<std::string>;
  for (unsigned flags = 0; flags < 8; ++flags) {
    const Value a{"a", (flags & 1) != 0};
    const Value b{"b", (flags & 2) != 0};
    const Value c{"c", (flags & 4) != 0};
    const Value left = op.combine(op.combine(a, b), c);
    const Value right = op.combine(a, op.combine(b, c));
    EXPECT_EQ(left.value, right.value) << flags;
    EXPECT_EQ(left.reset, right.reset) << flags;
  }
}

TEST(Segmented, ResetsStandWhereIdsChange) {
  const std::vector<std::int64_t> ids = {4, 4, 7, 7, 4, -1};
  EXPECT_EQ(resets_from_ids(ids, 4), (Flags{0, 0, 1, 0, 1, 1}));
  EXPECT_EQ(resets_from_ids(ids, 9), (Flags{1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(resets_from_ids(ids), (Flags{1, 0, 1, 0, 1, 1}));
  EXPECT_EQ(resets_from_ids({}), Flags());
  EXPECT_EQ(resets_from_ids({}, 3), Flags());
}

TEST(Segmented, RefusesFlagsThatDoNotFit) {
  std::vector<std::int64_t> values(3, 1);
  const Flags resets(2);
  try {
    segmented_scan(Blelloch{}, Sum(), values, resets, values);
    FAIL() << "two flags for three values";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "[scan] resets has 2 flags, but there are 3 values");
  }
}

}  // namespace
}  // namespace foxhunt::kernels
