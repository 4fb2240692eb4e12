// A stream that is cut between two records goes on as if it had not been.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/base/state_part.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/market/fake_reader.h"

namespace foxhunt::market {
namespace {

using std::chrono::minutes;
using test::FakeReader;
using test::kOpen;
using test::mapped;

constexpr const char* kBars = "data/es-sample/es-ohlcv-1m.dbn.zst";

std::vector<std::byte> saved(const BarSelector& selector) {
  ByteWriter out;
  selector.save(out);
  return out.take();
}

void restore(BarSelector& selector, std::span<const std::byte> bytes) {
  ByteReader in(bytes, "a.state");
  selector.restore(in);
  in.finish();
}

std::string refusal(BarSelector selector, std::span<const std::byte> bytes) {
  try {
    restore(selector, bytes);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

/// Everything that a selector answers from here on, a line an answer; ends at an error.
std::vector<std::string> run(BarSelector& selector, Reader& reader) {
  std::vector<std::string> log;
  try {
    while (const Bar* bar = selector.next(reader)) {
      const SelectionCounters& c = selector.counters();
      log.push_back(to_string(bar->start) + " " + std::to_string(bar->instrument.instrument_id) +
                    " " + std::to_string(bar->close.nano) + " " + selector.symbol() + " " +
                    std::to_string(c.records) + " " + std::to_string(c.selected));
    }
  } catch (const DataError& error) {
    log.emplace_back(error.what());
  }
  const SelectionCounters& c = selector.counters();
  for (const std::int64_t n :
       {c.records, c.selected, c.other_type, c.other_product, c.other_contract, c.unmapped}) {
    log.push_back(std::to_string(n));
  }
  return log;
}

const std::map<std::uint32_t, std::string> kSymbols{
    {1, "ESZ3"}, {2, "ESH4"}, {3, "ESM4"}, {4, "NQZ3"}, {5, "ESZ3-ESH4"}};

/// Bars of several days with other products, unknown ids, trades, rolls, and sometimes contracts
/// that are mixed, which ends the stream.
FakeReader random_stream(Rng& rng, std::int64_t n, bool mixes) {
  FakeReader reader({}, mapped(kSymbols));
  std::uint32_t contract = 1;
  UnixNanos at = kOpen;
  for (std::int64_t i = 0; i < n; ++i) {
    at += minutes{rng.below(40) == 0 ? 1440 : 1};
    if (rng.below(25) == 0)
      contract = mixes ? 1 + static_cast<std::uint32_t>(rng.below(3)) : std::min(contract + 1, 3U);
    const std::uint64_t kind = rng.below(10);
    if (kind == 0) {
      reader.add(Trade{});
      continue;
    }
    const std::uint32_t other = kind == 1 ? 4 : kind == 2 ? 5 : 9;
    const auto price = Price{static_cast<std::int64_t>(1 + rng.below(1000))};
    reader.add(Bar{.instrument = {.publisher_id = 1, .instrument_id = kind < 4 ? other : contract},
                   .start = at,
                   .open = price,
                   .high = price,
                   .low = price,
                   .close = price,
                   .volume = 1});
  }
  return reader;
}

/// Records of `reader` that a selector has seen by now are skipped, as in a file opened anew.
void skip(Reader& reader, std::int64_t records) {
  for (std::int64_t i = 0; i < records; ++i) ASSERT_NE(reader.next(), nullptr);
}

/// Runs whole, and with a cut behind `answers` answers; gives whether the whole run met an error.
bool expect_cut_changes_nothing(const BarSelector& blank, const FakeReader& stream,
                                std::int64_t answers) {
  FakeReader whole = stream;
  BarSelector straight = blank;
  for (std::int64_t i = 0; i < answers; ++i) EXPECT_NE(straight.next(whole), nullptr);
  const auto bytes = saved(straight);
  BarSelector copy = straight;
  FakeReader for_copy = whole;  // stands at the cut, too

  BarSelector fresh = blank;
  restore(fresh, bytes);
  EXPECT_EQ(saved(fresh), bytes);
  EXPECT_EQ(fresh.symbol(), straight.symbol());
  FakeReader reopened = stream;
  skip(reopened, fresh.counters().records);

  const auto want = run(straight, whole);
  EXPECT_EQ(run(fresh, reopened), want);
  EXPECT_EQ(run(copy, for_copy), want);
  return std::ranges::any_of(want, [](const auto& line) { return line.starts_with("[data]"); });
}

TEST(BarSelectorState, ACutAnywhereChangesNoAnswerNoErrorAndNoCounter) {
  Rng rng(1);
  int refused = 0;
  const BarSelector every_contract({.product = "ES"});
  const BarSelector one_contract({.product = "ES", .symbol = "ESH4"});
  for (int trial = 0; trial < 150; ++trial) {
    const bool mixes = trial % 2 == 0;
    const FakeReader stream = random_stream(rng, 200, mixes);
    const BarSelector& blank = trial % 5 == 0 ? one_contract : every_contract;
    FakeReader counted = stream;
    BarSelector selector = blank;
    std::int64_t answers = 0;
    try {
      while (selector.next(counted) != nullptr) ++answers;
    } catch (const DataError&) {
      // The stream is cut somewhere before it.
    }
    for (int cut = 0; cut < 3; ++cut) {
      const auto at = static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(answers + 1)));
      refused += expect_cut_changes_nothing(blank, stream, at) ? 1 : 0;
    }
  }
  EXPECT_GT(refused, 50);  // errors that the memory of a session's contracts gives are among them
}

TEST(BarSelectorState, RemembersTheContractsThatASessionHasLeft) {
  const auto bar = [](std::uint32_t id, int minute) {
    return Bar{.instrument = {.publisher_id = 1, .instrument_id = id},
               .start = kOpen + minutes{minute}};
  };
  BarSelector selector({});
  FakeReader before({bar(1, 0), bar(2, 1)}, mapped(kSymbols));
  run(selector, before);
  BarSelector fresh({});
  restore(fresh, saved(selector));
  FakeReader behind({bar(2, 2), bar(1, 3)}, mapped(kSymbols));
  EXPECT_NE(fresh.next(behind), nullptr);
  EXPECT_THROW(fresh.next(behind), DataError);
}

TEST(BarSelectorState, GoesOnInAFileOpenedAnew) {
  Rng rng(2);
  const auto whole = open_reader(kBars);
  BarSelector straight({});
  const auto want = run(straight, *whole);
  for (int cut = 0; cut < 4; ++cut) {
    const std::uint64_t at = rng.below(want.size());
    const auto first = open_reader(kBars);
    BarSelector stopped({});
    for (std::uint64_t i = 0; i < at; ++i) stopped.next(*first);
    BarSelector fresh({});
    restore(fresh, saved(stopped));
    const auto second = open_reader(kBars);
    skip(*second, fresh.counters().records);
    const auto rest = run(fresh, *second);
    ASSERT_LE(rest.size(), want.size());
    EXPECT_TRUE(std::equal(rest.rbegin(), rest.rend(), want.rbegin())) << at;
  }
}

TEST(BarSelectorState, ARestoredSelectorForgetsTheIdsOfItsReader) {
  const Bar bar{.instrument = {.publisher_id = 1, .instrument_id = 1}, .start = kOpen};
  Bar later = bar;
  later.start += minutes{1};
  const auto empty = saved(BarSelector({}));
  BarSelector selector({});
  // The same address, but another file: without the restore the first file's answer would stay.
  FakeReader reader({bar, later}, mapped({{1, "ESZ3"}}));
  EXPECT_NE(selector.next(reader), nullptr);
  restore(selector, empty);
  reader = FakeReader({bar, later}, mapped({{1, "NQZ3"}}));
  EXPECT_EQ(selector.next(reader), nullptr);
  EXPECT_EQ(selector.counters().other_product, 2);
}

TEST(BarSelectorState, RefusesAnotherFilterAndAnotherVersionByName) {
  const auto bytes = saved(BarSelector({.product = "ES", .symbol = "ESZ3"}));
  EXPECT_THAT(refusal(BarSelector({.product = "NQ"}), bytes),
              testing::HasSubstr("there product = 'ES', symbol = 'ESZ3'; here product = 'NQ', "
                                 "symbol = ''"));
  EXPECT_THAT(refusal(BarSelector({.product = "ES"}), bytes), testing::HasSubstr("here product"));
  ByteReader in(bytes, "");
  ByteReader payload = read_part(in, "market.selector", 1);
  ByteWriter out;
  write_part(out, "market.selector", 2, payload.raw(payload.remaining()));
  EXPECT_THAT(refusal(BarSelector({.product = "ES", .symbol = "ESZ3"}), out.bytes()),
              testing::HasSubstr("version 2, but this program reads version 1"));
}

/// A selector in the middle of a session with several rolls behind it.
BarSelector busy_selector() {
  Rng rng(3);
  FakeReader reader = random_stream(rng, 120, false);
  BarSelector selector({});
  while (selector.next(reader) != nullptr) {
  }
  return selector;
}

TEST(BarSelectorState, EveryTruncationAndEveryFlippedBitIsRefusedAndChangesNothing) {
  const auto bytes = saved(busy_selector());
  BarSelector selector({});
  FakeReader reader({}, mapped(kSymbols));
  reader.add(Trade{});
  selector.next(reader);
  const auto before = saved(selector);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_THROW(restore(selector, std::span(bytes).first(n)), FormatError) << n;
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[n] ^= std::byte{1} << bit;
      EXPECT_THROW(restore(selector, damaged), FormatError) << n << " " << bit;
    }
  }
  EXPECT_EQ(saved(selector), before);
}

TEST(BarSelectorState, ForgedPayloadsAreRefusedOrGoOnWithoutHarm) {
  const auto bytes = saved(busy_selector());
  ByteReader whole(bytes, "");
  ByteReader part = read_part(whole, "market.selector", 1);
  const auto payload = part.raw(part.remaining());
  Rng rng(4);
  int loaded = 0;
  const FakeReader stream = random_stream(rng, 30, false);
  BarSelector selector({});
  for (int trial = 0; trial < 10'000; ++trial) {
    std::vector<std::byte> forged(payload.begin(), payload.end());
    for (std::uint64_t k = 1 + rng.below(3); k > 0; --k) {
      forged[rng.below(forged.size())] = static_cast<std::byte>(rng.below(256));
    }
    if (rng.below(4) == 0) forged.resize(rng.below(forged.size() + 1));
    if (rng.below(8) == 0) forged.push_back(std::byte{0});
    ByteWriter out;
    write_part(out, "market.selector", 1, forged);
    const auto before = saved(selector);
    try {
      restore(selector, out.bytes());
      ++loaded;
      EXPECT_EQ(saved(selector), out.bytes());  // nothing was read over
    } catch (const FormatError&) {
      EXPECT_EQ(saved(selector), before);
      continue;
    }
    FakeReader reader = stream;
    run(selector, reader);
  }
  EXPECT_GT(loaded, 100);
  EXPECT_LT(loaded, 5'000);  // and many are refused
}

}  // namespace
}  // namespace foxhunt::market
