#include "foxhunt/columns/digits.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::columns {
namespace {

template <class Write>
std::string text_of(Write write) {
  char room[64];
  return {room, static_cast<std::size_t>(write(room) - room)};
}

/// Every power of ten, its neighbours, both ends, and numbers of every length.
std::vector<std::uint64_t> numbers() {
  std::vector<std::uint64_t> all{0,
                                 std::numeric_limits<std::uint64_t>::max(),
                                 std::uint64_t{1} << 63U,
                                 (std::uint64_t{1} << 63U) - 1,
                                 0xFFFFFFFFU,
                                 std::uint64_t{1} << 32U};
  for (std::uint64_t power = 1; power <= 10'000'000'000'000'000'000U; power *= 10) {
    for (const std::uint64_t n : {power - 1, power, power + 1}) all.push_back(n);
    if (power == 10'000'000'000'000'000'000U) break;
  }
  std::uint64_t bits = 88172645463325252U;
  for (unsigned i = 0; i < 20'000; ++i) {
    bits ^= bits << 13U;
    bits ^= bits >> 7U;
    bits ^= bits << 17U;
    all.push_back(bits >> (i % 64));
  }
  return all;
}

TEST(Digits, AreThoseOfFmtForNumbersOfEveryLength) {
  for (const std::uint64_t n : numbers()) {
    EXPECT_EQ(text_of([&](char* out) { return write_unsigned(out, n); }), fmt::format("{}", n));
    const auto s = static_cast<std::int64_t>(n);
    EXPECT_EQ(text_of([&](char* out) { return write_signed(out, s); }), fmt::format("{}", s));
  }
}

TEST(Digits, PricesHaveNineDecimals) {
  for (const std::uint64_t n : numbers()) {
    const auto s = static_cast<std::int64_t>(n);
    const std::uint64_t size = s < 0 ? ~n + 1 : n;
    EXPECT_EQ(
        text_of([&](char* out) { return write_price(out, s); }),
        fmt::format("{}{}.{:09}", s < 0 ? "-" : "", size / 1'000'000'000, size % 1'000'000'000));
  }
}

TEST(Digits, TimesAreTheSameWhateverWasWrittenBefore) {
  TimeText times;
  for (const std::uint64_t n : numbers()) {
    for (const std::uint64_t t : {n, n, n ^ 1U}) {
      EXPECT_EQ(text_of([&](char* out) { return times.write_nanos(out, t); }),
                fmt::format("{}", t));
      const std::string iso = text_of([&](char* out) { return times.write_iso(out, t); });
      if (t > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) continue;
      const UnixNanos time = from_nanos(static_cast<std::int64_t>(t));
      const auto second = std::chrono::floor<std::chrono::seconds>(time);
      std::string expected = to_string(UnixNanos(second));
      expected.pop_back();
      EXPECT_EQ(iso, fmt::format("{}.{:09}Z", expected, (time - second).count()));
    }
  }
}

TEST(Digits, TheLastTimeOfAllIsInTheYear2554) {
  TimeText times;
  EXPECT_EQ(text_of([&](char* out) { return times.write_iso(out, ~std::uint64_t{0}); }),
            "2554-07-21T23:34:33.709551615Z");
}

}  // namespace
}  // namespace foxhunt::columns
