// Rows out of orders: nothing of the future, nothing older than the warm-up, nothing lost by a
// saved state, no allocation.
#include "foxhunt/features/book/book_features.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/book/random_orders.h"
#include "foxhunt/latency/count_allocations.h"

namespace foxhunt::features {
namespace {

using book::test::event;
using book::test::kKey;
using book::test::RandomOrders;
using market::OrderEvent;

constexpr Price kTick{250'000'000};

BookFeatureConfig small() {
  BookFeatureConfig config;
  config.spans = {3, 20};
  return config;
}
BookFeatures make(const BookFeatureConfig& config = small()) {
  return {config, kTick, std::nullopt, kKey, 4096, 512};
}

/// A clear, then orders; another clear on the way, whose orders then are unknown ones.
std::vector<OrderEvent> stream(std::uint64_t seed, std::size_t n) {
  RandomOrders orders(seed, kTick.nano, 300, 0, false);
  std::vector<OrderEvent> events(n);
  std::ranges::generate(events, [&orders] { return orders.next(); });
  for (const std::size_t at : {std::size_t{0}, n / 2}) {
    events[at].action = 'R';
    events[at].flags = market::flag::kLast;
  }
  return events;
}

/// Status of each record and the bits of its row.
std::vector<std::string> answers(BookFeatures& features, std::span<const OrderEvent> events) {
  std::vector<std::string> out;
  std::vector<float> row(static_cast<std::size_t>(features.width()));
  for (const OrderEvent& e : events) {
    const BookPush push = features.push(e, row);
    std::string text(1, static_cast<char>('0' + static_cast<int>(push.status)));
    if (push.status == BookStatus::kReady) {
      text.append(reinterpret_cast<const char*>(row.data()), row.size() * sizeof(float));  // NOLINT
    }
    out.push_back(std::move(text));
  }
  return out;
}
std::size_t ready(const std::vector<std::string>& texts) {
  return static_cast<std::size_t>(
      std::ranges::count_if(texts, [](auto& t) { return t[0] == '0'; }));
}

TEST(BookFeatures, SeeNothingOfTheFuture) {
  const auto events = stream(1, 1500);
  BookFeatures whole = make();
  const auto want = answers(whole, events);
  EXPECT_GT(ready(want), 500U);
  for (const std::size_t cut : {200U, 700U, 1100U}) {
    auto poisoned = events;
    RandomOrders other(cut, kTick.nano, 50, 300);
    for (std::size_t i = cut; i < poisoned.size(); ++i) poisoned[i] = other.next();
    BookFeatures features = make();
    const auto got = answers(features, poisoned);
    EXPECT_TRUE(
        std::equal(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(cut), got.begin()));
    EXPECT_NE(got, want);
  }
}

TEST(BookFeatures, RememberTheirWarmUpAndNothingOlder) {
  const auto events = stream(2, 1500);
  BookFeatures old = make();
  const std::int64_t warm_up = old.schema().warm_up();
  EXPECT_EQ(warm_up, 21);
  int compared = 0;
  for (std::size_t cut : {400U, 801U, 1203U}) {
    while ((events[cut - 1].flags & market::flag::kLast) == 0) ++cut;  // between two events
    BookFeatures longer = make();
    const auto before = answers(longer, std::span(events).first(cut));
    // The book as a snapshot, for a stream that begins here.
    std::vector<OrderEvent> rest;
    for (const auto side : {market::Side::kBid, market::Side::kAsk}) {
      for (std::size_t rank = 0; rank < longer.book().levels(side); ++rank) {
        for (const auto& order : longer.book().queue(side, rank)) {
          rest.push_back(event('A', order.id, side, longer.book().level(side, rank).price.nano,
                               static_cast<std::uint32_t>(order.size), market::flag::kSnapshot));
          rest.back().ts_recv = events[cut - 1].ts_recv;
        }
      }
    }
    rest.back().flags |= market::flag::kLast;
    const std::size_t rows = rest.size();
    rest.insert(rest.end(), events.begin() + static_cast<std::ptrdiff_t>(cut), events.end());
    BookFeatures shorter = make();
    const auto got = answers(shorter, rest);
    const auto want = answers(longer, std::span(events).subspan(cut));
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (got[rows + i][0] != '0') continue;
      ASSERT_EQ(got[rows + i], want[i]) << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

TEST(BookFeatures, GoOnFromASavedStateBitForBit) {
  const auto events = stream(3, 1200);
  BookFeatures whole = make();
  BookFeatures cut = make();
  for (std::size_t at = 0; at < events.size(); at += 97) {
    const auto part = std::span(events).subspan(at, std::min<std::size_t>(97, events.size() - at));
    ByteWriter saved;
    cut.save(saved);
    BookFeatures fresh = make();
    ByteReader from(saved.bytes(), "a.state");
    fresh.restore(from);
    from.finish();
    ASSERT_EQ(answers(fresh, part), answers(whole, part)) << at;
    cut = fresh;
    ByteWriter a;
    ByteWriter b;
    cut.save(a);
    whole.save(b);
    ASSERT_EQ(a.bytes(), b.bytes());
  }
  ByteWriter saved;
  cut.save(saved);
  BookFeatureConfig other = small();
  other.spans = {3, 21};
  BookFeatures stranger = make(other);
  ByteReader from(saved.bytes(), "a.state");
  EXPECT_THROW(stranger.restore(from), FormatError);
  for (std::size_t n = 0; n < saved.bytes().size(); n += 101) {
    ByteReader short_bytes(std::span(saved.bytes()).first(n), "a.state");
    EXPECT_THROW(cut.restore(short_bytes), FormatError);
  }
  ByteWriter after;
  cut.save(after);
  EXPECT_EQ(after.bytes(), saved.bytes()) << "a refusal changes nothing";
  cut.reset();
  BookFeatures anew = make();
  EXPECT_EQ(answers(cut, events), answers(anew, events));
}

TEST(BookFeatures, AllocateNothing) {
  const auto events = stream(4, 20'000);
  BookFeatures features = make();
  std::vector<float> row(static_cast<std::size_t>(features.width()));
  const std::int64_t before = latency::thread_allocations();
  for (const OrderEvent& e : events) features.push(e, row);
  EXPECT_EQ(latency::thread_allocations(), before);
  EXPECT_GT(features.rows().count(BookStatus::kReady), 5000);
}

TEST(BookFeatures, TellExecutionsFromCancellationsAndSnapshotsFromEvents) {
  BookFeatureConfig config;
  config.levels = {1};
  config.spans = {1};
  BookFeatures features = make(config);
  std::vector<float> row(static_cast<std::size_t>(features.width()));
  const auto column = [&](const std::string& name) {
    const auto& columns = features.schema().columns;
    const auto at = std::ranges::find(columns, name, &Column::name) - columns.begin();
    return row[static_cast<std::size_t>(at)];
  };
  using market::Side;
  const std::uint8_t snapshot = market::flag::kSnapshot;
  const std::int64_t px = 100 * kTick.nano;
  features.push(event('A', 1, Side::kBid, px, 5, snapshot), row);
  features.push(event('A', 2, Side::kAsk, px + kTick.nano, 8, snapshot), row);
  BookPush push =
      features.push(event('A', 3, Side::kAsk, px + kTick.nano, 4, snapshot | 0x80), row);
  EXPECT_EQ(push.status, BookStatus::kWarmingUp);
  EXPECT_TRUE(push.starts_sequence);

  EXPECT_EQ(features.push(event('T', 0, Side::kBid, px + kTick.nano, 8, 0), row).status,
            BookStatus::kInsideEvent);
  features.push(event('F', 2, Side::kAsk, px + kTick.nano, 8, 0), row);
  push = features.push(event('C', 2, Side::kAsk, px + kTick.nano, 8), row);
  ASSERT_EQ(push.status, BookStatus::kReady);
  EXPECT_EQ(column("adds_1"), 0) << "snapshot rows are no adds";
  EXPECT_EQ(column("cancels_1"), 0);
  EXPECT_EQ(column("flow_1"), 1);
  EXPECT_FLOAT_EQ(column("volume_1"), std::log(9.0F));
  EXPECT_FLOAT_EQ(column("depleted_ask_1"), 2.0F * 8 / 9);

  push = features.push(event('C', 3, Side::kAsk, px + kTick.nano, 1), row);
  ASSERT_EQ(push.status, BookStatus::kReady);
  EXPECT_EQ(column("cancels_1"), 1);
  EXPECT_EQ(column("flow_1"), 0);
}

}  // namespace
}  // namespace foxhunt::features
