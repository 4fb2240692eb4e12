// What goes into a slot comes out of it, every field.
#include "foxhunt/serve/slots.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::serve {
namespace {

using market::OrderEvent;
using market::Side;

std::uint64_t word(Rng& rng) { return rng.below(std::numeric_limits<std::uint64_t>::max()); }

TEST(Slots, EveryFieldOfAnOrderEventComesBack) {
  Rng rng(1);
  for (int round = 0; round < 1000; ++round) {
    OrderEvent e;
    e.instrument = {static_cast<std::uint16_t>(word(rng)), static_cast<std::uint32_t>(word(rng))};
    e.ts_event = rng.below(5) == 0 ? kNullTime : from_nanos(static_cast<std::int64_t>(word(rng)));
    e.ts_recv = from_nanos(static_cast<std::int64_t>(word(rng)));
    e.order_id = word(rng);
    e.price = rng.below(5) == 0 ? Price::null() : Price{static_cast<std::int64_t>(word(rng))};
    e.size = market::stated_size(static_cast<std::uint32_t>(word(rng)));
    e.action = static_cast<char>(rng.below(256));
    e.side = std::array{Side::kAsk, Side::kBid, Side::kNone}[rng.below(3)];
    e.flags = static_cast<std::uint8_t>(word(rng));
    e.channel_id = static_cast<std::uint8_t>(word(rng));
    e.sequence = static_cast<std::uint32_t>(word(rng));
    e.ts_in_delta = static_cast<std::int32_t>(word(rng));
    const OrderSlot slot = slot_of(e, "ESH4", round % 2 == 0);
    EXPECT_EQ(text_of(slot.symbol), "ESH4");
    EXPECT_EQ(slot.has_symbols, round % 2 == 0 ? 1 : 0);
    const OrderEvent back = record_of(slot);
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

TEST(Slots, WhatAFeedSaysThereIsNotIsNone) {
  OrderSlot slot;
  slot.side = 'x';
  slot.size = 0xFFFF'FFFF;
  EXPECT_EQ(record_of(slot).side, Side::kNone);
  EXPECT_EQ(record_of(slot).size, 0U);
  EXPECT_THROW(slot_of(OrderEvent{}, std::string(kSymbolBytes, 'E'), true), DataError);
}

}  // namespace
}  // namespace foxhunt::serve
