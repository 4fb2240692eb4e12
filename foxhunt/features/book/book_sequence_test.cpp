// Where sequences of book rows begin and go on, and the last level that is looked at.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <vector>

#include "foxhunt/features/book/book_rows.h"

namespace foxhunt::features {
namespace {

using book::DepthView;
using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr Price kTick{250'000'000};

/// All ten levels of both sides, five a level.
DepthView full_view(UnixNanos at) {
  DepthView view;
  view.ts_recv = view.ts_event = at;
  for (std::int64_t m = 0; m < std::int64_t{DepthView::kLevels}; ++m) {
    view.bids[static_cast<std::size_t>(m)] = {Price{kTick.nano * (100 - m)}, 5, 1};
    view.asks[static_cast<std::size_t>(m)] = {Price{kTick.nano * (101 + m)}, 5, 1};
  }
  return view;
}

struct Stream {
  explicit Stream(std::int64_t max_gap_seconds, const char* product = nullptr)
      : rows({.levels = {1, 10}, .spans = {1}, .max_gap_seconds = max_gap_seconds}, kTick,
             product == nullptr ? std::nullopt
                                : std::optional(market::Calendar::for_product(product))),
        row(static_cast<std::size_t>(rows.width())) {}
  BookPush take(const DepthView& view) { return rows.take(&view, {}, row); }
  double value(const char* name) const {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (rows.schema().columns[i].name == name) return double{row[i]};
    }
    ADD_FAILURE() << name;
    return 0;
  }
  BookRows rows;
  std::vector<float> row;
};

const UnixNanos kStart = parse_time("2023-12-26T15:00");

TEST(BookSequence, LooksAtTheLastLevelOfBothSides) {
  for (const bool bid : {true, false}) {
    Stream stream(1800);
    stream.take(full_view(kStart));
    DepthView view = full_view(kStart + seconds{1});
    (bid ? view.bids : view.asks)[9].size = 8;
    ASSERT_EQ(stream.take(view).status, BookStatus::kReady);
    // Three more of 103 in all; one window of one event.
    EXPECT_NEAR(stream.value("ofi_10_1"), (bid ? 2.0 : -2.0) * 3 / 103, 1e-6);  // float32
    EXPECT_EQ(stream.value("ofi_1_1"), 0);
  }
}

TEST(BookSequence, GoesOnOverAHoleOfJustTheLongestLength) {
  Stream stream(1800);
  EXPECT_TRUE(stream.take(full_view(kStart)).starts_sequence);
  EXPECT_FALSE(stream.take(full_view(kStart + seconds{1800})).starts_sequence);
  EXPECT_TRUE(
      stream.take(full_view(kStart + seconds{3600} + std::chrono::nanoseconds{1})).starts_sequence);
}

TEST(BookSequence, TakesAStepBackAsNoTime) {
  Stream stream(1800);
  stream.take(full_view(kStart));
  stream.take(full_view(kStart + seconds{1}));
  ASSERT_EQ(stream.take(full_view(kStart)).status, BookStatus::kReady);
  EXPECT_EQ(stream.value("since_last"), 0);
  EXPECT_EQ(stream.rows.steps_back(), 1);
  ASSERT_EQ(stream.take(full_view(kStart + seconds{1})).status, BookStatus::kReady);
  EXPECT_EQ(stream.value("since_last"), 0) << "time goes on from the latest";
}

TEST(BookSequence, DoesNotBeginWithATimeThatIsNotToBeTrusted) {
  Stream stream(1800);
  DepthView view = full_view(kStart);
  view.quality.bad_ts_recv = true;
  const BookPush push = stream.take(view);
  EXPECT_EQ(push.status, BookStatus::kBadFeed);
  EXPECT_FALSE(push.starts_sequence);
  EXPECT_EQ(stream.rows.sequences(), 0);
}

TEST(BookSequence, BeginsAnewWithASessionHoweverLongAHoleMayBe) {
  Stream stream(86'400, "ES");
  const UnixNanos close = parse_time("2023-12-26T22:00");  // open again at 23:00
  EXPECT_TRUE(stream.take(full_view(close - minutes{2})).starts_sequence);
  EXPECT_FALSE(stream.take(full_view(close - minutes{1})).starts_sequence);
  EXPECT_TRUE(stream.take(full_view(close + hours{1})).starts_sequence);
}

}  // namespace
}  // namespace foxhunt::features
