#include "foxhunt/market/dbn_metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::Bytes;
using test::error_of;
using test::fixture_bytes;
using test::unpacked;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// Prelude and body of a whole file.
DbnMetadata parse(const std::string& file) {
  const auto bytes = std::as_bytes(std::span(file));
  const DbnPrelude prelude = parse_dbn_prelude(bytes, "f.dbn");
  if (bytes.size() < kDbnPreludeSize + prelude.length) throw FormatError("test: cut");
  return parse_dbn_metadata(prelude, bytes.subspan(kDbnPreludeSize, prelude.length), "f.dbn");
}

/// Fixed part of version 3 and then `variable`.
std::string with_variable_part(const std::string& variable, std::uint16_t symbol_size = 71,
                               std::uint32_t definition_length = 0) {
  Bytes body;
  body.text("GLBX.MDP3", 16).add(std::uint16_t{6}).zeros(24);
  body.add(std::uint8_t{1}).add(std::uint8_t{0}).add(std::uint8_t{0}).add(symbol_size);
  body.zeros(100 - body.str().size()).add(definition_length);
  const std::string whole = body.str() + variable;
  return Bytes()
             .text("DBN", 3)
             .add(std::uint8_t{3})
             .add(static_cast<std::uint32_t>(whole.size()))
             .str() +
         whole;
}

Bytes counts(std::uint32_t symbols, std::uint32_t partial, std::uint32_t not_found) {
  return Bytes().add(symbols).add(partial).add(not_found);
}

DbnMetadata everything() {
  return {.dataset = "GLBX.MDP3",
          .schema = 6,
          .start = 1'600'000'000'000'000'000,
          .end = 1'700'000'000'000'000'000,
          .limit = 12,
          .stype_in = 4,
          .stype_out = 0,
          .ts_out = true,
          .symbols = {"ES.FUT", std::string(70, 'x')},
          .partial = {"NQ.FUT"},
          .not_found = {"", "ZZ.FUT"},
          .mappings = {{"ESH1", {{20201228, 20201229, "5482"}, {20201229, 20210101, ""}}},
                       {"ESM1", {}}}};
}

TEST(DbnMetadataTest, TheSameQueryReadsAlikeInAllThreeVersions) {
  for (const int version : {1, 2, 3}) {
    const auto file =
        unpacked(fixture_bytes("test_data.ohlcv-1m.v" + std::to_string(version) + ".dbn.zst"));
    const DbnMetadata m = parse(file);
    EXPECT_EQ(m.version, version);
    EXPECT_EQ(m.dataset, "GLBX.MDP3");
    EXPECT_EQ(m.schema, 6);
    EXPECT_EQ(m.start, 1609160400000000000U);
    EXPECT_EQ(m.end, 1609200000000000000U);
    EXPECT_EQ(m.limit, 2U);
    EXPECT_EQ(m.stype_in, 1);
    EXPECT_EQ(m.stype_out, 0);
    EXPECT_FALSE(m.ts_out);
    EXPECT_THAT(m.symbols, ElementsAre("ESH1"));
    EXPECT_TRUE(m.partial.empty());
    EXPECT_TRUE(m.not_found.empty());

    const StreamInfo info = to_stream_info(m, "f.dbn");
    EXPECT_EQ(info.version, version);
    EXPECT_EQ(info.schema, "ohlcv-1m");
    EXPECT_EQ(info.stype_in, "raw_symbol");
    EXPECT_EQ(info.stype_out, "instrument_id");
    EXPECT_EQ(info.start, parse_time("2020-12-28T13:00:00Z"));
    ASSERT_EQ(info.mappings.size(), 1U);
    EXPECT_EQ(info.mappings[0].raw_symbol, "ESH1");
    EXPECT_EQ(info.mappings[0].start, parse_date("2020-12-28"));
    EXPECT_EQ(info.mappings[0].end, parse_date("2020-12-29"));
    EXPECT_EQ(info.mappings[0].instrument_id, 5482U);
  }
}

TEST(DbnMetadataTest, WhatIsEncodedIsParsedAgainAndPaddedToEight) {
  const DbnMetadata m = everything();
  const std::string file = encode_dbn_metadata(m);
  EXPECT_EQ(file.size() % 8, 0U);
  const DbnMetadata got = parse(file);
  EXPECT_EQ(got.version, 3);
  EXPECT_EQ(got.dataset, m.dataset);
  EXPECT_EQ(got.limit, m.limit);
  EXPECT_TRUE(got.ts_out);
  EXPECT_EQ(got.symbols, m.symbols);
  EXPECT_EQ(got.partial, m.partial);
  EXPECT_EQ(got.not_found, m.not_found);
  ASSERT_EQ(got.mappings.size(), 2U);
  EXPECT_EQ(got.mappings[0].intervals.size(), 2U);
  EXPECT_EQ(got.mappings[0].intervals[0].symbol, "5482");
  EXPECT_EQ(encode_dbn_metadata(got), file);
}

TEST(DbnMetadataTest, EveryOfficialVersion3HeaderIsEncodedToItsOwnBytes) {
  for (const char* name :
       {"test_data.ohlcv-1s.v3.dbn.zst", "test_data.ohlcv-1d.v3.dbn.zst", "test_data.mbo.v3.dbn",
        "test_data.definition.v3.dbn.zst", "test_data.tbbo.v3.dbn.zst"}) {
    const std::string file = unpacked(fixture_bytes(name));
    const std::string encoded = encode_dbn_metadata(parse(file));
    EXPECT_EQ(encoded, file.substr(0, encoded.size())) << name;
    // And through the plain values that readers hand out and writers take.
    const StreamInfo info = to_stream_info(parse(file), name);
    EXPECT_EQ(encode_dbn_metadata(from_stream_info(info)), encoded) << name;
  }
}

TEST(DbnMetadataTest, OtherVersionsAreRefusedByName) {
  std::string file = encode_dbn_metadata(everything());
  for (const int version : {0, 4, 5, 255}) {
    file[3] = static_cast<char>(version);
    EXPECT_THAT(error_of<FormatError>([&] { parse(file); }),
                HasSubstr("f.dbn: DBN version " + std::to_string(version) + " is not supported"));
  }
  file[2] = 'X';
  EXPECT_THAT(error_of<FormatError>([&] { parse(file); }), HasSubstr("does not begin with DBN"));
}

TEST(DbnMetadataTest, LengthsThatCannotBeAreRefusedBeforeAnythingIsRead) {
  for (const std::uint32_t length : {0U, 99U, 103U, (1U << 30) + 1, ~0U}) {
    const std::string file =
        Bytes().text("DBN", 3).add(std::uint8_t{3}).add(length).zeros(200).str();
    EXPECT_THAT(error_of<FormatError>([&] { parse(file); }),
                AllOf(HasSubstr("byte 4"), HasSubstr(std::to_string(length))))
        << length;
  }
}

TEST(DbnMetadataTest, CountsAreHeldAgainstTheBytesThatAreThere) {
  // A product that is not widened would pass: 0x039B0AD2 * 71 wraps to 62 in 32 bits.
  static_assert(static_cast<std::uint32_t>(0x039B0AD2ULL * 71) == 62);
  for (const std::uint32_t many : {1U, 0x039B0AD2U, ~0U}) {
    EXPECT_THAT(
        error_of<FormatError>(
            [&] { parse(with_variable_part(Bytes().add(many).zeros(64).str())); }),
        AllOf(HasSubstr("symbols"), HasSubstr(std::to_string(many)), HasSubstr("byte 116")));
    EXPECT_THAT(error_of<FormatError>(
                    [&] { parse(with_variable_part(counts(0, many, 0).zeros(64).str())); }),
                HasSubstr("partial"));
    EXPECT_THAT(error_of<FormatError>(
                    [&] { parse(with_variable_part(counts(0, 0, many).zeros(64).str())); }),
                HasSubstr("not_found"));
    EXPECT_THAT(
        error_of<FormatError>([&] { parse(with_variable_part(counts(0, 0, 0).add(many).str())); }),
        HasSubstr("mappings"));
    const std::string intervals =
        counts(0, 0, 0).add(std::uint32_t{1}).text("ESH1", 71).add(many).str();
    EXPECT_THAT(error_of<FormatError>([&] { parse(with_variable_part(intervals)); }),
                HasSubstr("mappings.intervals"));
  }
}

TEST(DbnMetadataTest, EveryCutOfTheBodyIsRefusedAndNoByteBehindItIsTouched) {
  const std::string whole = encode_dbn_metadata(everything());
  // The last mapping is followed by padding only.
  const std::size_t needed = whole.size() - 8;
  for (std::size_t size = 112; size < needed; ++size) {
    std::string cut = whole.substr(0, size);
    const auto length = static_cast<std::uint32_t>(size - kDbnPreludeSize);
    std::memcpy(cut.data() + 4, &length, sizeof length);
    EXPECT_THROW(parse(cut), FormatError) << size;
  }
}

TEST(DbnMetadataTest, TextWithoutEndIsReadToTheEndOfItsField) {
  const std::string variable =
      counts(1, 0, 0).str().substr(0, 4) + std::string(22, 'A') + counts(0, 0, 0).str();
  EXPECT_THAT(parse(with_variable_part(variable, 22)).symbols, ElementsAre(std::string(22, 'A')));
}

TEST(DbnMetadataTest, FieldsThatMustHoldAValueDo) {
  const std::string rest = counts(0, 0, 0).add(std::uint32_t{0}).str();
  EXPECT_NO_THROW(parse(with_variable_part(rest)));
  EXPECT_THAT(error_of<FormatError>([&] { parse(with_variable_part(rest, 71, 24)); }),
              AllOf(HasSubstr("byte 108"), HasSubstr("24")));
  EXPECT_THAT(error_of<FormatError>([&] { parse(with_variable_part(rest, 0)); }),
              HasSubstr("byte 53: symbols of 0 bytes"));
}

TEST(DbnMetadataTest, DatesAndIdsThatAreNoneAreRefused) {
  const auto with = [](std::uint32_t start, std::uint32_t end, std::string symbol) {
    DbnMetadata m = everything();
    m.mappings = {{"ESH1", {{start, end, std::move(symbol)}}}};
    return m;
  };
  EXPECT_NO_THROW(to_stream_info(with(20201228, 20201228, "5482"), "f"));
  for (const std::uint32_t date : {0U, 20201301U, 20200230U, 202012280U, ~0U}) {
    EXPECT_THAT(error_of<FormatError>([&] { to_stream_info(with(20201228, date, "5482"), "f"); }),
                HasSubstr(std::to_string(date)));
  }
  for (const char* id : {"ESH1", "5482x", "-1", "4294967296", " 7"}) {
    EXPECT_THAT(error_of<FormatError>([&] { to_stream_info(with(20201228, 20201229, id), "f"); }),
                HasSubstr(id));
  }
}

TEST(DbnMetadataTest, MappingsReadTheSameWhicheverWayTheQueryWent) {
  DbnMetadata m = everything();
  m.stype_in = 0;
  m.stype_out = 1;
  m.mappings = {{"5482", {{20201228, 20201229, "ESH1"}, {20201229, 20201230, ""}}}};
  const StreamInfo info = to_stream_info(m, "f");
  ASSERT_EQ(info.mappings.size(), 1U) << "days without a symbol are left out";
  EXPECT_EQ(info.mappings[0].raw_symbol, "ESH1");
  EXPECT_EQ(info.mappings[0].instrument_id, 5482U);

  const DbnMetadata back = from_stream_info(info);
  ASSERT_EQ(back.mappings.size(), 1U);
  EXPECT_EQ(back.mappings[0].raw_symbol, "5482");
  EXPECT_EQ(back.mappings[0].intervals[0].symbol, "ESH1");

  m.stype_in = 3;  // continuous to raw_symbol: no ids
  EXPECT_TRUE(to_stream_info(m, "f").mappings.empty());
}

TEST(DbnMetadataTest, NumbersThatAreNewerThanThisCodeKeepTheirNumber) {
  DbnMetadata m = everything();
  m.schema = 77;
  m.stype_in = 14;
  m.stype_out = 0xFF;
  m.mappings.clear();
  StreamInfo info = to_stream_info(m, "f");
  EXPECT_EQ(info.schema, "schema-77");
  EXPECT_EQ(info.stype_in, "stype-14");
  EXPECT_EQ(info.stype_out, "");
  EXPECT_EQ(from_stream_info(info).schema, 77);
  EXPECT_EQ(from_stream_info(info).stype_in, 14);
  EXPECT_EQ(from_stream_info(info).stype_out, 0xFF);
  info.schema = "ohlcv-2m";
  EXPECT_THAT(error_of<DataError>([&] { from_stream_info(info); }), HasSubstr("'ohlcv-2m'"));
}

TEST(DbnMetadataTest, OpenEndsAreNull) {
  DbnMetadata m = everything();
  for (const std::uint64_t end : {std::uint64_t{0}, ~std::uint64_t{0}}) {
    m.end = end;
    EXPECT_TRUE(is_null(to_stream_info(m, "f").end));
  }
  m.schema = 0xFFFF;
  EXPECT_EQ(to_stream_info(m, "f").schema, "mixed");
}

TEST(DbnMetadataTest, WhatDoesNotFitIntoItsFieldIsNotCut) {
  DbnMetadata m = everything();
  m.symbols = {std::string(71, 'x')};
  EXPECT_THAT(error_of<DataError>([&] { encode_dbn_metadata(m); }),
              AllOf(HasSubstr("symbols"), HasSubstr("71"), HasSubstr("70")));
  m = everything();
  m.dataset = std::string(16, 'x');
  EXPECT_THAT(error_of<DataError>([&] { encode_dbn_metadata(m); }), HasSubstr("dataset"));

  StreamInfo info;
  info.schema = "ohlcv-1m";
  info.stype_in = "raw_symbol";
  info.mappings = {{"ESH1", parse_date("2021-01-02"), parse_date("2021-01-01"), 7}};
  EXPECT_THAT(error_of<DataError>([&] { from_stream_info(info); }), HasSubstr("instrument_id"));
  info.stype_out = "instrument_id";
  EXPECT_THAT(error_of<DataError>([&] { from_stream_info(info); }),
              AllOf(HasSubstr("ESH1"), HasSubstr("20210101"), HasSubstr("20210102")));
  info.mappings[0].start = Date{};
  EXPECT_THAT(error_of<DataError>([&] { from_stream_info(info); }), HasSubstr("invalid date"));
  info.mappings.clear();
  info.start = parse_time("1969-12-31");
  EXPECT_THAT(error_of<DataError>([&] { from_stream_info(info); }), HasSubstr("1970"));
}

TEST(DbnMetadataTest, IntervalsOfOneSymbolAreGathered) {
  StreamInfo info;
  info.schema = "ohlcv-1m";
  info.stype_out = "instrument_id";
  const Date a = parse_date("2021-01-01");
  const Date b = parse_date("2021-01-02");
  const Date c = parse_date("2021-01-03");
  info.mappings = {{"ESH1", a, b, 7}, {"ESM1", a, c, 8}, {"ESH1", b, c, 9}};
  const DbnMetadata m = from_stream_info(info);
  ASSERT_EQ(m.mappings.size(), 2U);
  EXPECT_EQ(m.mappings[0].raw_symbol, "ESH1");
  ASSERT_EQ(m.mappings[0].intervals.size(), 2U);
  EXPECT_EQ(m.mappings[0].intervals[1].symbol, "9");
  EXPECT_EQ(m.mappings[0].intervals[1].start, 20210102U);
}

}  // namespace
}  // namespace foxhunt::market
