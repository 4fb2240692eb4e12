#include "foxhunt/market/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_test_support.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::bar_record;
using test::error_of;
using test::TempFolder;
using test::zstd_frame;
using testing::AllOf;
using testing::HasSubstr;

class OpenReaderTest : public testing::Test {
 protected:
  /// The name says nothing about the content.
  std::unique_ptr<Reader> open(const std::string& bytes, const ReadOptions& options = {}) {
    write_file_atomic(folder_ / "file.dat", bytes);
    return open_reader(folder_ / "file.dat", options);
  }
  std::string refusal(const std::string& bytes) {
    return error_of<FormatError>([&] { open(bytes); });
  }
  TempFolder folder_;
};

TEST_F(OpenReaderTest, DbnIsSeenByContentPlainOrPackedWithOrWithoutMetadata) {
  const std::string bar = bar_record(0x21, 1, 10, 3);
  for (const std::string& file : {test::plain_metadata(6) + bar, bar}) {
    EXPECT_EQ(open(file)->info().format, "dbn");
    const auto packed = open(zstd_frame(file));
    EXPECT_EQ(packed->info().format, "dbn");
    EXPECT_NE(packed->next(), nullptr) << "what was looked at is not lost";
    EXPECT_EQ(packed->next(), nullptr);
  }
}

TEST_F(OpenReaderTest, TextIsCsvPlainOrPacked) {
  const std::string text =
      "ts_event,open,high,low,close,volume\n2013-10-06T22:00:00Z,1,2,0.5,1.5,7\n";
  EXPECT_EQ(open(text)->info().format, "csv");
  EXPECT_EQ(open(zstd_frame(text))->info().format, "csv");
  EXPECT_EQ(open(test::gzip(text))->info().format, "csv");
}

TEST_F(OpenReaderTest, OtherFilesAreRefusedByName) {
  EXPECT_THAT(refusal(""), AllOf(HasSubstr("file.dat"), HasSubstr("an empty file")));
  EXPECT_THAT(refusal(zstd_frame("")), HasSubstr("an empty file"));
  EXPECT_THAT(refusal(zstd_frame("hunting").substr(0, 6)), HasSubstr("cut short"));
  EXPECT_THAT(refusal("\x1F\x8B\x08"), HasSubstr("cut short"));
  EXPECT_THAT(refusal("PK\x03\x04zip"), HasSubstr("zip"));
  EXPECT_THAT(refusal("PAR1"), HasSubstr("Parquet"));
  EXPECT_THAT(refusal("DBZ\x01"), HasSubstr("DBZ"));
  EXPECT_THAT(refusal(std::string("a\0b,c\n", 6)), HasSubstr("neither DBN nor text"));
  EXPECT_THAT(refusal(test::plain_metadata(6, 4)), HasSubstr("DBN version 4 is not supported"));
  EXPECT_THAT(refusal(test::fixture_bytes("test_data.mbo.dbz")),
              AllOf(HasSubstr("legacy DBZ"), HasSubstr("dbn tool")));
  EXPECT_THROW(open_reader(folder_ / "none"), IoError);
}

TEST_F(OpenReaderTest, AGivenVersionMakesAFileADbnFragment) {
  const std::string unknown(64, '\x10');  // a type without a name
  EXPECT_THAT(refusal(unknown), HasSubstr("neither DBN nor text"));
  const auto reader = open(unknown, {.dbn_version = 2});
  EXPECT_EQ(reader->info().version, 2);
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->stats().skipped_by_rtype.at(0x10), 1);
  EXPECT_THROW(open(unknown, {.dbn_version = 9}), ConfigError);
}

/// Only mappings.
class MapReader final : public Reader {
 public:
  explicit MapReader(StreamInfo info) : info_(std::move(info)) {}
  const StreamInfo& info() const override { return info_; }
  const Record* next() override { return nullptr; }
  const ReadStats& stats() const override { return stats_; }

 private:
  StreamInfo info_;
  ReadStats stats_;
};

TEST(ReaderTest, AnIdIsAnotherSymbolOnAnotherDay) {
  StreamInfo info;
  const Date a = parse_date("2021-03-19");
  const Date b = parse_date("2021-03-20");
  const Date c = parse_date("2021-03-22");
  info.mappings = {{"ES.c.0", a, b, 7}, {"ESH1", a, b, 7}, {"never", b, b, 7}, {"NQM1", b, c, 7}};
  const MapReader reader(info);
  EXPECT_EQ(reader.symbol_of({1, 7}, parse_time("2021-03-19T23:59")), "ES.c.0");
  EXPECT_EQ(reader.symbol_of({1, 7}, parse_time("2021-03-20T00:00")), "NQM1");
  EXPECT_EQ(reader.symbol_of({1, 7}, parse_time("2021-03-22T00:00")), "");
  EXPECT_EQ(reader.symbol_of({1, 8}, parse_time("2021-03-19T12:00")), "");
}

TEST(ReaderTest, TheIndexTimeIsTheReceiveTimeWhereThereIsOne) {
  const UnixNanos t1 = from_nanos(1);
  const UnixNanos t2 = from_nanos(2);
  EXPECT_EQ(index_time(Bar{.start = t1}), t1);
  EXPECT_EQ(index_time(Trade{.ts_event = t1, .ts_recv = t2}), t2);
  EXPECT_EQ(index_time(Trade{.ts_event = t1}), t1);
  EXPECT_EQ(index_time(TopOfBook{.ts_event = t1, .ts_recv = t2}), t2);
  EXPECT_EQ(index_time(Definition{.ts_event = t2, .ts_recv = t1}), t1);
  EXPECT_EQ(instrument_of(Trade{.instrument = {3, 4}}), (InstrumentKey{3, 4}));
}

TEST(ReaderTest, RecordTypesHaveNames) {
  EXPECT_EQ(rtype_name(0x00), "trades");
  EXPECT_EQ(rtype_name(0x21), "ohlcv-1m");
  EXPECT_EQ(rtype_name(0xA0), "mbo");
  EXPECT_EQ(rtype_name(0x77), "unknown");
  EXPECT_EQ(rtype_name(-1), "unknown");
}

}  // namespace
}  // namespace foxhunt::market
