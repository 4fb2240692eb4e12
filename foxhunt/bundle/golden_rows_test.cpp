// Golden records as whole numbers: nothing is lost on the way there and back, and what no record
// can hold is refused.
#include "foxhunt/bundle/golden_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/bundle/bundle_layout.h"

namespace foxhunt::bundle {
namespace {

using market::OrderEvent;
using market::Side;

OrderEvent random_event(Rng& rng) {
  const auto word = [&rng] { return rng.below(std::numeric_limits<std::uint64_t>::max()); };
  OrderEvent e;
  e.instrument = {static_cast<std::uint16_t>(word()), static_cast<std::uint32_t>(word())};
  e.ts_event = rng.below(5) == 0 ? kNullTime : from_nanos(static_cast<std::int64_t>(word() / 2));
  e.ts_recv = from_nanos(static_cast<std::int64_t>(word() / 2));
  e.order_id = word();
  e.price = rng.below(5) == 0 ? Price::null() : Price{static_cast<std::int64_t>(word())};
  e.size = static_cast<std::uint32_t>(word());
  e.action = static_cast<char>(rng.below(256));
  e.side = std::array{Side::kAsk, Side::kBid, Side::kNone}[rng.below(3)];
  e.flags = static_cast<std::uint8_t>(word());
  e.channel_id = static_cast<std::uint8_t>(word());
  e.sequence = static_cast<std::uint32_t>(word());
  e.ts_in_delta = static_cast<std::int32_t>(word());
  return e;
}

TEST(GoldenRows, EveryFieldOfAnOrderEventComesBack) {
  Rng rng(1);
  for (int round = 0; round < 2000; ++round) {
    const OrderEvent e = random_event(rng);
    const auto rows = golden_rows(std::vector{e});
    ASSERT_EQ(rows.size(), std::size_t{kEventColumns});
    const std::string name = "t";
    const OrderEvent back = GoldenRow(name, 0, rows).event();
    EXPECT_EQ(back.instrument, e.instrument);
    EXPECT_EQ(back.ts_event, e.ts_event);
    EXPECT_EQ(back.ts_recv, e.ts_recv);
    EXPECT_EQ(back.order_id, e.order_id);
    EXPECT_EQ(back.price, e.price);
    EXPECT_EQ(back.size, e.size);
    EXPECT_EQ(back.action, e.action);
    EXPECT_EQ(back.side, e.side);
    EXPECT_EQ(back.flags, e.flags);
    EXPECT_EQ(back.channel_id, e.channel_id);
    EXPECT_EQ(back.sequence, e.sequence);
    EXPECT_EQ(back.ts_in_delta, e.ts_in_delta);
  }
}

TEST(GoldenRows, WhatAFieldCannotHoldIsRefusedByRowAndColumn) {
  Rng rng(2);
  const auto rows = golden_rows(std::vector{random_event(rng)});
  const std::string name = "foxhunt.golden.events";
  for (const std::size_t column :
       {kEventInstrument, kEventSize, kEventLetters, kEventSequence, kEventDelta}) {
    for (const std::int64_t value :
         {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()}) {
      auto bad = rows;
      bad[column] = value;
      try {
        GoldenRow(name, 7, bad).event();
        ADD_FAILURE() << "column " << column;
      } catch (const FormatError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("row 7, column " + std::to_string(column)));
      }
    }
  }
}

}  // namespace
}  // namespace foxhunt::bundle
