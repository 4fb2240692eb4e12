// All algorithms against the definition, under operators that are exact: equal, not nearly equal.
#include "foxhunt/kernels/scan/scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <initializer_list>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/scan/scan_test_support.h"

namespace foxhunt::kernels {
namespace {

using test::Concat;
using test::Matrices;
using test::Sum;
using test::with_every_algorithm;

constexpr Inclusion kBoth[] = {Inclusion::kInclusive, Inclusion::kExclusive};

template <class Op>
class ScanTest : public testing::Test {};
using Operators = testing::Types<Sum, Concat, Matrices>;
TYPED_TEST_SUITE(ScanTest, Operators);

template <class Op>
void expect_definition(std::size_t size) {
  Rng rng(17 + size);
  const Op op;
  const auto in = test::draw<Op>(size, rng);
  const auto start = Op::draw(rng);
  for (const Inclusion inclusion : kBoth) {
    const auto want = test::prefixes(op, in, inclusion, start);
    with_every_algorithm([&](const auto& algorithm, const std::string& name) {
      std::vector<ScanValue<Op>> out(size, Op::draw(rng));  // garbage
      scan(algorithm, op, in, out, inclusion, start);
      ASSERT_EQ(out, want) << name << ", length " << size;
      std::vector<ScanValue<Op>> in_place = in;
      scan(algorithm, op, in_place, in_place, inclusion, start);
      ASSERT_EQ(in_place, want) << name << " in place, length " << size;
    });
  }
}

TYPED_TEST(ScanTest, EveryAlgorithmWritesTheDefinitionAtEveryLengthUpTo70) {
  for (std::size_t size = 0; size <= 70; ++size) expect_definition<TypeParam>(size);
}

TYPED_TEST(ScanTest, EveryAlgorithmWritesTheDefinitionAtGreaterLengths) {
  for (const std::size_t size :
       std::initializer_list<std::size_t>{127, 128, 129, 511, 1000, 1024, 1025}) {
    expect_definition<TypeParam>(size);
  }
}

TEST(Scan, IsExactOverManyThousandMatrices) {
  for (const std::size_t size : std::initializer_list<std::size_t>{4096, 10007, 65537})
    expect_definition<Matrices>(size);
}

TYPED_TEST(ScanTest, WithoutAStartItBeginsWithTheIdentity) {
  Rng rng(3);
  const TypeParam op;
  const auto in = test::draw<TypeParam>(37, rng);
  const auto want = test::prefixes(op, in, Inclusion::kInclusive, op.identity());
  with_every_algorithm([&](const auto& algorithm, const std::string& name) {
    auto out = in;
    scan(algorithm, op, in, out);
    EXPECT_EQ(out, want) << name;
  });
}

TYPED_TEST(ScanTest, ASequenceInPartsContinuesFromTheLastResult) {
  Rng rng(5);
  const TypeParam op;
  const auto in = test::draw<TypeParam>(61, rng);
  const auto want = test::prefixes(op, in, Inclusion::kInclusive, op.identity());
  with_every_algorithm([&](const auto& algorithm, const std::string& name) {
    auto out = in;
    const std::span<const ScanValue<TypeParam>> source(in);
    const std::span<ScanValue<TypeParam>> target(out);
    scan(algorithm, op, source.first(23), target.first(23));
    scan(algorithm, op, source.subspan(23), target.subspan(23), Inclusion::kInclusive, out[22]);
    EXPECT_EQ(out, want) << name;
  });
}

/// A value that can be made only from a number: algorithms may not ask for an empty one.
struct Bare {
  explicit Bare(int number) : n(number) {}
  int n;
};
struct Largest {
  using Value = Bare;
  Value identity() const { return Bare(-1000); }
  Value combine(const Value& a, const Value& b) const { return Bare(std::max(a.n, b.n)); }
};

TEST(Scan, ValuesNeedNoDefault) {
  with_every_algorithm([](const auto& algorithm, const std::string& name) {
    std::vector<Bare> values = {Bare(3), Bare(1), Bare(4), Bare(1), Bare(5), Bare(2)};
    scan(algorithm, Largest(), values, values);
    std::vector<int> got;
    got.reserve(values.size());
    for (const Bare& value : values) got.push_back(value.n);
    EXPECT_EQ(got, (std::vector{3, 3, 4, 4, 5, 5})) << name;
  });
}

/// Not associative: measures the bracketing itself. A value is the depth of its expression.
struct Depth {
  using Value = int;
  std::atomic<int>* combines;
  Value identity() const { return 0; }
  Value combine(Value a, Value b) const {
    ++*combines;
    return std::max(a, b) + 1;
  }
};

TEST(Scan, WorkAndDepthAreWhatTheHeadersSay) {
  for (const int size : {1, 2, 3, 16, 37, 64, 100, 1000}) {
    const int log2 = static_cast<int>(std::bit_width(static_cast<unsigned>(size - 1)));
    const auto measure = [&](const auto& algorithm) {
      std::atomic<int> work = 0;
      std::vector<int> values(static_cast<std::size_t>(size), 0);
      scan(algorithm, Depth{&work}, values, values);
      return std::pair(work.load(), *std::max_element(values.begin(), values.end()));
    };
    SCOPED_TRACE(size);
    EXPECT_EQ(measure(SequentialScan{}), std::pair(size, size));
    // + 1: the start, which the headers leave out.
    EXPECT_LE(measure(HillisSteele{}).first, size * log2 + 1);
    EXPECT_LE(measure(HillisSteele{}).second, log2 + 1);
    EXPECT_LE(measure(Blelloch{}).first, 2 * (size - 1) + 1);
    EXPECT_LE(measure(Blelloch{}).second, 2 * log2 + 1);
    const int chunk = 8;
    const int chunks = (size + chunk - 1) / chunk;
    EXPECT_LE(measure(Chunked{.chunk = chunk}).first, 2 * size + chunks);
    EXPECT_LE(measure(Chunked{.chunk = chunk}).second, 2 * chunk + chunks);
  }
}

TEST(Scan, ExclusiveIsInclusiveMovedByOneBitForBitInTheTrees) {
  Rng rng(8);
  struct Floats {
    using Value = float;
    Value identity() const { return 0; }
    Value combine(Value a, Value b) const { return a + b; }
  };
  std::vector<float> in(77);
  for (float& x : in) x = static_cast<float>(rng.normal());
  const auto check = [&](const auto& algorithm) {
    std::vector<float> inclusive(in.size());
    std::vector<float> exclusive(in.size());
    scan(algorithm, Floats(), in, inclusive, Inclusion::kInclusive, 0.5F);
    scan(algorithm, Floats(), in, exclusive, Inclusion::kExclusive, 0.5F);
    EXPECT_EQ(exclusive[0], 0.5F);
    for (std::size_t t = 1; t < in.size(); ++t) EXPECT_EQ(exclusive[t], inclusive[t - 1]);
  };
  check(Blelloch{});
  check(HillisSteele{});
}

template <class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Scan, RefusesRangesAndChunksThatCannotBe) {
  std::vector<std::int64_t> values(10, 1);
  const std::span<std::int64_t> all(values);
  EXPECT_EQ(message_of([&] { scan(Blelloch{}, Sum(), all.first(4), all.subspan(4)); }),
            "[scan] in has 4 values and out 6, but they must be equal");
  EXPECT_EQ(message_of([&] { scan(Blelloch{}, Sum(), all.first(6), all.subspan(4)); }),
            "[scan] in and out overlap, 32 bytes apart, but they must be one range or not touch");
  EXPECT_EQ(message_of([&] { scan(Blelloch{}, Sum(), all.subspan(4), all.first(6)); }),
            "[scan] in and out overlap, 32 bytes apart, but they must be one range or not touch");
  EXPECT_EQ(message_of([&] { scan(Chunked{.chunk = 0}, Sum(), all, all); }),
            "[scan] chunk = 0, but it must be at least 1");
  EXPECT_EQ(values, std::vector<std::int64_t>(10, 1)) << "a refused scan wrote";
  EXPECT_NO_THROW(scan(Blelloch{}, Sum(), all.first(5), all.subspan(5)));
}

TEST(Scan, WhatTheOperatorThrowsReachesTheCaller) {
  struct Fragile : Sum {
    Value combine(Value a, Value b) const {
      if (b == 666) throw DataError("666");
      return a + b;
    }
  };
  with_every_algorithm([](const auto& algorithm, const std::string& name) {
    std::vector<std::int64_t> values(100, 1);
    values[41] = 666;
    EXPECT_THROW(scan(algorithm, Fragile(), values, values), DataError) << name;
    std::vector<std::int64_t> good(100, 1);
    scan(algorithm, Fragile(), good, good);
    EXPECT_EQ(good.back(), 100) << name;
  });
}

}  // namespace
}  // namespace foxhunt::kernels
