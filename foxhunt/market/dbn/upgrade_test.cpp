// Every record of every reference file in the layout of its own version and upgraded to version 3,
// as the golden text by the table of fields: the hashes are the official decoder's.
#include "foxhunt/market/dbn/upgrade.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>

#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/market/dbn/fields.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/venue_records.h"
#include "foxhunt/market/dbn_bytes.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market::dbn {
namespace {

using nlohmann::json;

std::string cell(std::span<const std::byte> record, const Field& field) {
  if (field.type == FieldType::kText) return load_text(record, field.at, field.size);
  std::uint64_t bits = 0;
  std::memcpy(&bits, record.data() + field.at, field.size);
  if (field.type != FieldType::kSigned) return fmt::format("{}", bits);
  const int unused = 64 - 8 * field.size;
  return fmt::format("{}", static_cast<std::int64_t>(bits << unused) >> unused);
}

std::string line_of(const RawRecord& record) {
  std::string text;
  for (const Field& field : fields_of(record.rtype, record.version)) {
    text += (text.empty() ? "" : "\t") + cell(record.bytes, field);
  }
  return text + "\n";
}

TEST(DbnUpgradeTest, EveryReferenceFileHashesToTheOfficialDecodersTextAsItIsAndUpgraded) {
  const auto shared = test::shared_folder();
  if (!std::filesystem::exists(shared / "golden/dbn/expected.jsonl")) {
    GTEST_SKIP() << "FOXHUNT_SHARED does not name the reference data";
  }
  std::ifstream lines(shared / "golden/dbn/expected.jsonl");
  int files = 0;
  std::int64_t upgraded_records = 0;
  for (std::string text; std::getline(lines, text);) {
    const json want = json::parse(text);
    if (!want.at("ok")) continue;
    SCOPED_TRACE(want.at("file").get<std::string>());
    RecordStream stream = open_stream(shared / "data" / std::string(want.at("file")));
    Upgrader upgrade;
    Sha256 as_is;
    Sha256 newest;
    for (RawRecord record; stream.next(record);) {
      as_is.update(line_of(record));
      const RawRecord upgraded = upgrade(record);
      ASSERT_EQ(upgraded.version, 3);
      upgraded_records += upgraded.bytes.size() != record.bytes.size() ? 1 : 0;
      newest.update(line_of(upgraded));
    }
    EXPECT_EQ(stream.stats().records, want.at("records"));
    EXPECT_EQ(as_is.finish(), want.at("sha256_as_is"));
    EXPECT_EQ(newest.finish(), want.at("sha256_v3"));
    ++files;
  }
  EXPECT_EQ(files, 196);
  EXPECT_EQ(upgraded_records, 51) << "all others are the same in every version";
}

RawRecord raw(const std::string& bytes, int version) {
  return {.bytes = std::as_bytes(std::span(bytes)),
          .rtype = static_cast<unsigned char>(bytes[1]),
          .version = version};
}

TEST(DbnUpgradeTest, AQuantityKeepsItsValueItsSignAndUndefined) {
  Upgrader upgrade;
  const auto quantity = [&](std::int32_t q) {
    std::string record = test::record_head(0x18, 64, 9).zeros(48).str();
    std::memcpy(record.data() + 40, &q, sizeof q);
    return upgrade(raw(record, 2)).as<StatMsg>()->quantity;
  };
  EXPECT_EQ(quantity(7), 7);
  EXPECT_EQ(quantity(-7), -7);
  EXPECT_EQ(quantity(0x7FFFFFFE), 0x7FFFFFFE);
  EXPECT_EQ(quantity(0x7FFFFFFF), std::numeric_limits<std::int64_t>::max()) << "undefined";
}

TEST(DbnUpgradeTest, OldMessagesGetTheirTextAndUnsetCodes) {
  const std::string text(64, 'x');  // no NUL in it
  for (const int rtype : {0x15, 0x17}) {
    const std::string record =
        test::record_head(static_cast<std::uint8_t>(rtype), 80, 9).str() + text;
    Upgrader upgrade;
    RawRecord old = raw(record, 1);
    old.ts_out = 77;
    old.offset = 5;
    const RawRecord upgraded = upgrade(old);
    ASSERT_EQ(upgraded.bytes.size(), 320U);
    EXPECT_EQ(std::to_integer<int>(upgraded.bytes[0]), 80);
    EXPECT_EQ(load_text(upgraded.bytes, 16, 302), text);
    EXPECT_EQ(std::to_integer<int>(upgraded.bytes[319]), 255);
    EXPECT_EQ(upgraded.ts_out, 77U);
    EXPECT_EQ(upgraded.offset, 5U);
  }
}

TEST(DbnUpgradeTest, AnOldMappingGetsUnknownKindsOfSymbol) {
  const std::string record = test::record_head(0x16, 80, 9)
                                 .text("ES.c.0", 22)
                                 .text("ESH1", 22)
                                 .zeros(4)
                                 .add(std::uint64_t{11})
                                 .add(std::uint64_t{12})
                                 .str();
  Upgrader upgrade;
  const RawRecord upgraded = upgrade(raw(record, 1));
  ASSERT_EQ(upgraded.bytes.size(), 176U);
  EXPECT_EQ(std::to_integer<int>(upgraded.bytes[16]), 255);
  EXPECT_EQ(load_text(upgraded.bytes, 17, 71), "ES.c.0");
  EXPECT_EQ(std::to_integer<int>(upgraded.bytes[88]), 255);
  EXPECT_EQ(load_text(upgraded.bytes, 89, 71), "ESH1");
  EXPECT_EQ(load<std::uint64_t>(upgraded.bytes, 160), 11U);
  EXPECT_EQ(load<std::uint64_t>(upgraded.bytes, 168), 12U);
}

TEST(DbnUpgradeTest, WhatIsNotOldStaysWhereItIs) {
  const std::string trade = test::record_head(0x00, 48, 9).zeros(32).str();
  Upgrader upgrade;
  EXPECT_EQ(upgrade(raw(trade, 1)).bytes.data(), std::as_bytes(std::span(trade)).data());
  const std::string unknown = test::record_head(0x77, 32, 9).zeros(16).str();
  EXPECT_EQ(upgrade(raw(unknown, 1)).bytes.data(), std::as_bytes(std::span(unknown)).data());
}

}  // namespace
}  // namespace foxhunt::market::dbn
