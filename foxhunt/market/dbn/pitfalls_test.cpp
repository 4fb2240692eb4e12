// How readers of DBN went wrong in public, one test each; the numbers are those of the list of
// pitfalls in the reference documents (containers 1 to 12, values 13 to 20).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/market/convert.h"
#include "foxhunt/market/dbn/book_records.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/dbn/venue_records.h"
#include "foxhunt/market/dbn/writer.h"
#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/market/definition_table.h"

namespace foxhunt::market::dbn {
namespace {

using test::bar_record;
using test::error_of;
using test::plain_metadata;
using test::record_head;
using test::zstd_frame;
using testing::AllOf;
using testing::HasSubstr;

RecordStream stored(std::string bytes, const StreamOptions& options = {}) {
  return RecordStream(memory_bytes(std::move(bytes), "memory"), options);
}
RecordStream in_memory(const std::string& bytes, const StreamOptions& options = {}) {
  return RecordStream(std::as_bytes(std::span(bytes)), "memory", options);
}
RecordStream in_memory(std::string&& bytes, const StreamOptions& options = {}) {
  return stored(std::move(bytes), options);  // nothing else keeps them
}
std::int64_t drain(RecordStream& stream) {
  RawRecord record;
  while (stream.next(record)) {
  }
  return stream.stats().records;
}
std::string bars(int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) bytes += bar_record(0x21, static_cast<std::uint64_t>(1 + i), 10, 3);
  return bytes;
}
template <class T>
T value_of(std::string bytes) {
  const auto reader = test::dbn_reader(std::move(bytes));
  return std::get<T>(*reader->next());
}
/// A trade of 48 bytes.
std::string trade(std::int64_t price, char action = 'T', char side = 'A', std::uint32_t size = 1,
                  std::uint64_t ts_recv = 2) {
  return record_head(0x00, 48, 1)
      .add(price)
      .add(size)
      .add(action)
      .add(side)
      .zeros(2)
      .add(ts_recv)
      .zeros(8)
      .str();
}

TEST(DbnPitfallsTest, Pitfall01_AFrameThatIsDoneIsNotTheEnd) {
  auto stream = stored(zstd_frame(plain_metadata(6)) + zstd_frame(bars(3)) + zstd_frame("") +
                       zstd_frame(bars(2)));
  EXPECT_EQ(drain(stream), 5);
  EXPECT_EQ(stream.stats().frames, 4);
  auto eight = open_stream(test::fixture("multi-frame.definition.v1.dbn.frag.zst"));
  EXPECT_EQ(drain(eight), 8);
}

TEST(DbnPitfallsTest, Pitfall02_ACorruptSecondFrameIsAnErrorWithItsPlaceAndTheRecordsSoFar) {
  const std::string first = zstd_frame(plain_metadata(6) + bars(4));
  std::string second = zstd_frame(bars(4));
  second[6] = static_cast<char>(second[6] | 6);  // its first block of a kind that does not exist
  auto stream = stored(first + second);
  RawRecord record;
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(stream.next(record)) << i;
  for (int again = 0; again < 3; ++again) {
    const std::string text = error_of<FormatError>([&] {
      while (stream.next(record)) {
      }
    });
    EXPECT_THAT(text,
                AllOf(HasSubstr("zstd frame 2 (compressed offset"), HasSubstr("after 4 records")));
  }
  EXPECT_EQ(stream.stats().records, 4);
}

TEST(DbnPitfallsTest, Pitfall03_AnInputThatIsOverInsideAFrameIsTruncated) {
  const std::string whole = zstd_frame(plain_metadata(6) + bars(4));
  auto cut = stored(whole.substr(0, whole.size() - 1));
  EXPECT_EQ(drain(cut), 4) << "what is whole is delivered";
  EXPECT_TRUE(cut.stats().truncated) << "the checksum is missing";
  auto strict = stored(whole.substr(0, whole.size() - 1), {.strict = true});
  EXPECT_THROW(drain(strict), DataError);
  auto complete = stored(whole, {.strict = true});
  EXPECT_EQ(drain(complete), 4);
  EXPECT_FALSE(complete.stats().truncated);
}

TEST(DbnPitfallsTest, Pitfall04_APartialRecordAtTheEndIsCountedNeverInvented) {
  const std::string whole = plain_metadata(6) + bars(2);
  for (std::size_t cut = 1; cut < 56; ++cut) {
    const std::string part = whole.substr(0, whole.size() - cut);
    auto stream = in_memory(part);
    EXPECT_EQ(drain(stream), 1);
    EXPECT_TRUE(stream.stats().truncated);
    EXPECT_EQ(stream.stats().rest_bytes, static_cast<std::int64_t>(56 - cut));
    auto strict = in_memory(part, {.strict = true});
    EXPECT_THAT(error_of<DataError>([&] { drain(strict); }),
                HasSubstr("truncated at byte 184 after 1 records"));
  }
}

TEST(DbnPitfallsTest, Pitfall05_LengthByteZero) {
  for (const int length : {0, 1, 2, 3}) {
    std::string file = plain_metadata(6) + bars(2);
    file[128 + 56] = static_cast<char>(length);
    auto stream = in_memory(file);
    RawRecord record;
    EXPECT_TRUE(stream.next(record));
    for (int again = 0; again < 3; ++again) {
      EXPECT_THAT(error_of<FormatError>([&] { stream.next(record); }),
                  AllOf(HasSubstr("byte 184"), HasSubstr("16 or more"), HasSubstr("after 1")));
    }
    EXPECT_EQ(stream.stats().rest_bytes, 56) << "counted";
  }
  // Longer than known is fine, shorter is not.
  auto longer = in_memory(plain_metadata(6) + bar_record(0x21, 1, 2, 3, "12345678"));
  RawRecord record;
  ASSERT_TRUE(longer.next(record));
  EXPECT_EQ(record.bytes.size(), 64U);
  const std::string short_bar = plain_metadata(6) + record_head(0x21, 52, 1).zeros(36).str();
  auto shorter = in_memory(short_bar);
  EXPECT_THAT(error_of<FormatError>([&] { shorter.next(record); }), HasSubstr("52 bytes"));
}

TEST(DbnPitfallsTest, Pitfall06_RecordsAtAnyAddressAreReadWithoutAMisalignedLoad) {
  const std::string file = bar_record(0x21, 7, 10, 3) + bar_record(0x21, 8, 20, 4);
  for (std::size_t shift = 0; shift < 8; ++shift) {
    alignas(8) std::array<std::byte, 128> room{};
    std::memcpy(room.data() + shift, file.data(), file.size());
    const std::span<const std::byte> all(room);
    RecordStream stream(all.subspan(shift, file.size()), "memory");
    RawRecord record;
    for (const std::int64_t open : {10, 20}) {
      ASSERT_TRUE(stream.next(record));
      const auto bar = record.as<OhlcvMsg>();
      EXPECT_EQ(bar->open, open);
      EXPECT_EQ(bar.in_place(), shift == 0);
    }
  }
  // Through a source records come to lie aligned behind the first window at the latest.
  constexpr int kRecords = 80'000;  // 4.5 MB, more than twice the window of level 3
  std::string many = plain_metadata(6);
  many.append(4, '\0');  // so that the records begin at no multiple of eight
  many[4] = static_cast<char>(many[4] + 4);
  for (int i = 0; i < kRecords; ++i) many += bar_record(0x21, 7, i, 3);
  RecordStream stream(memory_bytes(test::zstd_frame(many), "memory"));
  int in_place = 0;
  RawRecord record;
  for (int i = 0; i < kRecords; ++i) {
    ASSERT_TRUE(stream.next(record));
    const auto bar = record.as<OhlcvMsg>();
    ASSERT_EQ(bar->open, i);
    in_place += bar.in_place() ? 1 : 0;
    EXPECT_TRUE(i != 0 || !bar.in_place()) << "at byte " << record.offset;
  }
  EXPECT_TRUE(record.as<OhlcvMsg>().in_place());
  EXPECT_GT(in_place, kRecords / 3);
}

TEST(DbnPitfallsTest, Pitfall07_ATextWithoutNulEndsWithItsField) {
  std::string record = record_head(0x17, 320, 1).zeros(304).str();
  std::fill(record.begin() + 16, record.begin() + 319, 'x');
  record[319] = 2;
  const auto message = value_of<Message>(plain_metadata() + record);
  EXPECT_EQ(message.text, std::string(303, 'x'));
  EXPECT_EQ(message.code, 2);
}

TEST(DbnPitfallsTest, Pitfall08_TheVersionOfAFragmentIsGivenOrInferredAndSaid) {
  const std::string old = test::fixture_bytes("test_data.definition.v1.dbn.frag");
  EXPECT_EQ(in_memory(old).version(), 1);
  EXPECT_EQ(in_memory(old, {.version = 2}).version(), 2);
  EXPECT_FALSE(in_memory(old).has_metadata());
  EXPECT_EQ(in_memory(bars(2)).version(), 3) << "nothing tells";
  EXPECT_THROW(in_memory(old, {.version = 4}), ConfigError);
}

TEST(DbnPitfallsTest, Pitfall09_EveryVersionReadsAlikeAndTheNextIsRefusedByName) {
  std::string texts[3];
  for (int version = 1; version <= 3; ++version) {
    auto stream =
        open_stream(test::fixture("test_data.definition.v" + std::to_string(version) + ".dbn.zst"));
    Upgrader upgrade;
    for (RawRecord record; stream.next(record);) {
      EXPECT_EQ(record.version, version);
      const auto bytes = upgrade(record).bytes;
      EXPECT_EQ(bytes.size(), 520U);
      texts[version - 1].append(reinterpret_cast<const char*>(bytes.data()), 335);  // to the asset
    }
    EXPECT_EQ(stream.stats().records, 2) << "the last ones are not lost";
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[1], texts[2]);
  EXPECT_THAT(error_of<FormatError>([] { in_memory(plain_metadata(6, 4)); }),
              HasSubstr("DBN version 4 is not supported"));
}

TEST(DbnPitfallsTest, Pitfall10_ASendTimeIsTheLastEightBytesFromTheFirstRecordOnAndSurvives) {
  const auto sent = [](std::uint64_t t) {
    return std::string(reinterpret_cast<const char*>(&t), sizeof t);
  };
  std::string statistic = record_head(0x18, 72, 5).zeros(48).str() + sent(1001);
  const std::string file = plain_metadata(0xFFFF, 2, /*ts_out=*/true) + statistic +
                           bar_record(0x21, 1, 10, 3, sent(1002)) +
                           bar_record(0x21, 2, 20, 4, sent(1003));
  auto stream = in_memory(file);
  Upgrader upgrade;
  std::string again;
  RecordWriter writer(memory_output(again), "again", stream.metadata());
  std::uint64_t want = 1001;
  for (RawRecord record; stream.next(record); ++want) {
    EXPECT_EQ(record.ts_out, want);
    writer.write(upgrade(record));
  }
  writer.finish();
  EXPECT_EQ(want, 1004U);
  auto newest = in_memory(again);
  want = 1001;
  for (RawRecord record; newest.next(record); ++want) EXPECT_EQ(record.ts_out, want);
  EXPECT_EQ(want, 1004U);
}

TEST(DbnPitfallsTest, Pitfall11_UnknownTypesAndValuesPassAndAreCounted) {
  std::string odd = trade(5);
  odd[28] = 'Z';  // an action that nobody knows
  const std::string file = plain_metadata() + record_head(0xEE, 24, 1).zeros(8).str() + odd;
  const auto reader = test::dbn_reader(file);
  const auto value = std::get<Trade>(*reader->next());
  EXPECT_EQ(value.action, 'Z') << "stays what it was";
  EXPECT_EQ(reader->stats().skipped_by_rtype.at(0xEE), 1);
  auto raw = in_memory(file);
  EXPECT_EQ(drain(raw), 2);
}

TEST(DbnPitfallsTest, Pitfall12_AMixedSchemaAndStypeAreLegal) {
  std::string metadata = plain_metadata(0xFFFF);
  metadata[50] = '\xFF';  // stype_in
  const auto reader = test::dbn_reader(metadata + bars(1) + trade(5));
  EXPECT_EQ(reader->info().schema, "mixed");
  EXPECT_EQ(reader->info().stype_in, "");
  EXPECT_TRUE(std::holds_alternative<Bar>(*reader->next()));
  EXPECT_TRUE(std::holds_alternative<Trade>(*reader->next()));
}

TEST(DbnPitfallsTest, Pitfall13_UndefinedPricesAreNullNeverNumbers) {
  constexpr std::int64_t kUndef = std::numeric_limits<std::int64_t>::max();
  test::Bytes record = record_head(0x0A, 368, 1);
  record.add(kUndef)
      .add(~std::uint32_t{0})
      .add('A')
      .add('B')
      .zeros(2)
      .add(std::uint64_t{2})
      .zeros(8);
  record.add(std::int64_t{99}).add(std::int64_t{101}).add(5U).add(6U).zeros(8);
  for (int level = 1; level < 10; ++level) {
    record.add(kUndef).add(kUndef).zeros(16);
  }
  const auto depth = value_of<DepthOfBook>(plain_metadata(2) + record.str());
  EXPECT_TRUE(depth.price.is_null());
  EXPECT_EQ(depth.size, 0U);
  EXPECT_EQ(depth.levels[0].bid.nano, 99);
  EXPECT_EQ(depth.levels[0].ask_size, 6U);
  for (std::size_t level = 1; level < 10; ++level) {
    EXPECT_TRUE(depth.levels[level].bid.is_null());
    EXPECT_TRUE(std::isnan(depth.levels[level].ask.to_double()));
    EXPECT_EQ(depth.levels[level].bid_size, 0U);
  }
}

TEST(DbnPitfallsTest, Pitfall14_AnUndefinedTimeCostsNoRecord) {
  std::string stored_bytes = test::unpacked(test::fixture_bytes("test_data.definition.v3.dbn.zst"));
  std::memset(stored_bytes.data() + stored_bytes.size() - 1040 + 40, 0xFF, 8);  // expiration
  std::memset(stored_bytes.data() + stored_bytes.size() - 1040 + 8, 0xFF, 16);  // both times
  const auto reader = test::dbn_reader(stored_bytes);
  DefinitionTable table;
  int definitions = 0;
  while (const Record* record = reader->next()) {
    table.add(reader->info().dataset, std::get<Definition>(*record));
    ++definitions;
  }
  EXPECT_EQ(definitions, 2);
  EXPECT_EQ(table.undated(), 1) << "counted where the time is needed";
}

TEST(DbnPitfallsTest, Pitfall15_PricesStayWholeNumbersOfTheirUnit) {
  constexpr std::int64_t kSixE = 1'170'350'000;  // 1.17035
  EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(kSixE)).price.nano, kSixE);
  EXPECT_EQ(kSixE % 50'000, 0) << "a whole number of ticks";
}

TEST(DbnPitfallsTest, Pitfall16_NegativePricesAreLegal) {
  EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(-37'630'000'000)).price.nano,
            -37'630'000'000);
  EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(-1)).price.nano, -1);
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  EXPECT_FALSE(value_of<Trade>(plain_metadata(4) + trade(kLeast)).price.is_null());
}

TEST(DbnPitfallsTest, Pitfall17_OutrightsAreToldFromSpreadsByTheirClass) {
  std::string file = test::unpacked(test::fixture_bytes("test_data.definition.v3.dbn.zst"));
  file[file.size() - 1040 + 487] = 'F';
  file[file.size() - 520 + 487] = 'S';
  const auto reader = test::dbn_reader(file);
  EXPECT_TRUE(is_outright_future(std::get<Definition>(*reader->next())));
  EXPECT_FALSE(is_outright_future(std::get<Definition>(*reader->next())));
}

TEST(DbnPitfallsTest, Pitfall18_TheSideOfATradeIsTheAggressorsAndUnknownStaysUnknown) {
  EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(5, 'T', 'B')).side, Side::kBid) << "bought";
  EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(5, 'T', 'A')).side, Side::kAsk) << "sold";
  for (const char odd : {'N', '\0', 'X', 'b'}) {
    EXPECT_EQ(value_of<Trade>(plain_metadata(4) + trade(5, 'T', odd)).side, Side::kNone);
  }
}

TEST(DbnPitfallsTest, Pitfall19_NanosecondsAndPricesSurviveExactly) {
  constexpr std::uint64_t kTime = 1751979600000662123;  // a double ends in 662016
  const auto value = value_of<Trade>(plain_metadata(4) + trade(5, 'T', 'A', 1, kTime));
  EXPECT_EQ(foxhunt::count(value.ts_recv), static_cast<std::int64_t>(kTime));
  const std::string file = plain_metadata(4) + trade(9'007'199'254'740'993, 'T', 'A', 1, kTime);
  auto stream = in_memory(file);
  std::string again;
  RecordWriter writer(memory_output(again), "again", stream.metadata());
  for (RawRecord record; stream.next(record);) writer.write(record);
  writer.finish();
  EXPECT_EQ(again, file);
}

TEST(DbnPitfallsTest, Pitfall20_AConversionThatMatchesNothingIsAnError) {
  const test::TempFolder folder;
  const auto reader = test::dbn_reader(plain_metadata(6));
  EXPECT_THROW(convert_bars(*reader, folder / "out.dbn.zst", ConvertOptions{}), DataError);
  EXPECT_EQ(folder.entries(), 0) << "and leaves no empty file";
}

}  // namespace
}  // namespace foxhunt::market::dbn
