#include "foxhunt/latency/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "foxhunt/base/rng.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::latency {
namespace {

const double kQuantiles[] = {0.0, 0.001, 0.1, 0.25, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0};

Histogram of(const std::vector<std::uint64_t>& values) {
  Histogram histogram;
  for (const std::uint64_t value : values) histogram.record(value);
  return histogram;
}

/// Rank ceil(q n) of the sorted values, in whole numbers: q is given in 1/10000.
std::uint64_t exact(std::vector<std::uint64_t> values, double q) {
  std::sort(values.begin(), values.end());
  const auto per_10000 = static_cast<std::uint64_t>(std::lround(q * 10000.0));
  const std::uint64_t rank = (per_10000 * values.size() + 9999) / 10000;
  return values[std::max<std::uint64_t>(rank, 1) - 1];
}

void expect_close_to_sorting(const std::vector<std::uint64_t>& values) {
  const Histogram histogram = of(values);
  for (const double q : kQuantiles) {
    const std::uint64_t want = exact(values, q);
    const std::uint64_t got = histogram.quantile(q);
    EXPECT_GE(got, want) << q;
    // The stated bound, in long double: 64-bit values do not fit a double.
    EXPECT_LE(static_cast<long double>(got - want), static_cast<long double>(want) / 128.0L) << q;
  }
  EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.quantile(0.0), histogram.min());
  EXPECT_EQ(histogram.quantile(1.0), histogram.max());
}

std::vector<std::uint64_t> drawn(std::size_t n, const std::function<std::uint64_t()>& draw) {
  std::vector<std::uint64_t> values(n);
  for (std::uint64_t& value : values) value = draw();
  return values;
}

TEST(Histogram, QuantilesEqualThoseOfSortingWithinAHundredAndTwentyEighth) {
  Rng rng(5);
  for (const std::size_t n : {1U, 2U, 7U, 100U, 1000U, 30000U}) {
    expect_close_to_sorting(drawn(n, [&] { return rng.next() % 20000; }));
    expect_close_to_sorting(drawn(n, [&] { return rng.next() >> (rng.next() % 64); }));
    expect_close_to_sorting(drawn(n, [&] {  // a step of 3 us with rare stalls of 35
      return rng.uniform() < 0.007 ? 90000 + rng.next() % 10000 : 7800 + rng.next() % 300;
    }));
  }
}

TEST(Histogram, QuantilesEqualThoseOfSortingOnValuesAtTheEdgesOfBuckets) {
  std::vector<std::uint64_t> values = {0, 1, ~std::uint64_t{0}, ~std::uint64_t{0} - 1};
  for (unsigned bit = 1; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t value : {power - 1, power, power + 1}) values.push_back(value);
  }
  expect_close_to_sorting(values);
  for (const std::uint64_t value : values) expect_close_to_sorting({value});
  expect_close_to_sorting(std::vector<std::uint64_t>(1000, 7777));
}

TEST(Histogram, BucketsAreInOrderWithoutAHoleAndAtMostAHundredAndTwentyEighthWide) {
  std::uint64_t bottom = 0;
  for (std::size_t bucket = 0; bucket < Histogram::kBuckets; ++bucket) {
    const std::uint64_t top = Histogram::top_of(bucket);
    ASSERT_EQ(Histogram::bucket_of(bottom), bucket);
    ASSERT_EQ(Histogram::bucket_of(top), bucket);
    ASSERT_LE(top - bottom, bottom / 128);  // kRelativeError
    bottom = top + 1;
  }
  EXPECT_EQ(bottom, 0U);  // the last bucket ends with the largest 64-bit value
}

TEST(Histogram, OfAHundredValuesTheNinetyNinthIsTheNinetyNinthPercentile) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.quantile(0.99), 99U);
  EXPECT_EQ(histogram.quantile(0.5), 50U);
  EXPECT_EQ(histogram.quantile(0.991), 100U);
  EXPECT_EQ(histogram.count(), 100);
}

TEST(Histogram, MergingEqualsRecordingEverythingInOne) {
  Rng rng(9);
  const auto left = drawn(1000, [&] { return rng.next() >> 40; });
  const auto right = drawn(777, [&] { return rng.next() >> 50; });
  std::vector<std::uint64_t> both = left;
  both.insert(both.end(), right.begin(), right.end());
  Histogram merged = of(left);
  merged.merge(of(right));
  merged.merge(Histogram());
  const Histogram whole = of(both);
  EXPECT_EQ(merged.count(), 1777);
  EXPECT_EQ(merged.min(), whole.min());
  EXPECT_EQ(merged.max(), whole.max());
  for (const double q : kQuantiles) EXPECT_EQ(merged.quantile(q), whole.quantile(q)) << q;
}

TEST(Histogram, AnEmptyOneAnswersZeroAndClearingMakesItEmpty) {
  Histogram histogram = of({5, 6});
  histogram.clear();
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.quantile(0.5), 0U);
  histogram.record(9);
  EXPECT_EQ(histogram.quantile(0.5), 9U);
  EXPECT_EQ(histogram.min(), 9U);
}

TEST(Histogram, RecordingAllocatesNothing) {
  Histogram histogram;
  Rng rng(1);
  const std::int64_t before = thread_allocations();
  for (int i = 0; i < 10000; ++i) histogram.record(rng.next() >> (i % 64));
  EXPECT_EQ(thread_allocations() - before, 0);
}

}  // namespace
}  // namespace foxhunt::latency
