#include "foxhunt/market/dbn_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::error_of;
using test::fixture_bytes;
using test::TempFolder;
using test::unpacked;
using testing::AllOf;
using testing::HasSubstr;

namespace fs = std::filesystem;

StreamInfo minute_info() {
  StreamInfo info;
  info.dataset = "GLBX.MDP3";
  info.schema = "ohlcv-1m";
  info.stype_in = "raw_symbol";
  info.stype_out = "instrument_id";
  info.symbols = {"ESZ3"};
  info.mappings = {{"ESZ3", parse_date("2013-10-06"), parse_date("2013-12-21"), 1}};
  return info;
}

Bar minute_bar(std::int64_t minute) {
  return {.instrument = {1, 1},
          .start = parse_time("2013-10-06T22:00") + std::chrono::minutes{minute},
          .open = {1'679'250'000'000},
          .high = {1'679'500'000'000},
          .low = {1'679'000'000'000},
          .close = {1'679'250'000'000 + minute},
          .volume = static_cast<std::uint64_t>(minute)};
}

void write_bars(const fs::path& path, int bars, const DbnWriteOptions& options = {}) {
  DbnWriter writer(path, minute_info(), options);
  for (int i = 0; i < bars; ++i) writer.write(minute_bar(i));
  writer.finish();
}

/// Reads a file and writes what was read.
void copy(const std::string& stored, const fs::path& path, const DbnWriteOptions& options = {}) {
  const auto reader = test::dbn_reader(stored);
  DbnWriter writer(path, reader->info(), options);
  while (const Record* record = reader->next()) {
    if (const auto* bar = std::get_if<Bar>(record)) writer.write(*bar);
    if (const auto* definition = std::get_if<Definition>(record)) writer.write(*definition);
  }
  writer.finish();
}

TEST(DbnWriterTest, OfficialBarFilesReadAndWrittenAgainAreByteEqual) {
  const TempFolder folder;
  for (const char* schema : {"1s", "1m", "1h", "1d"}) {
    const std::string stored =
        fixture_bytes("test_data.ohlcv-" + std::string(schema) + ".v3.dbn.zst");
    copy(stored, folder / "packed");
    EXPECT_EQ(unpacked(read_file(folder / "packed")), unpacked(stored)) << schema;
    copy(stored, folder / "plain", {.compress = false});
    EXPECT_EQ(read_file(folder / "plain"), unpacked(stored)) << schema;
  }
}

TEST(DbnWriterTest, OldVersionsAreWrittenAsVersion3) {
  const TempFolder folder;
  copy(fixture_bytes("test_data.ohlcv-1m.v1.dbn.zst"), folder / "x");
  EXPECT_EQ(unpacked(read_file(folder / "x")),
            unpacked(fixture_bytes("test_data.ohlcv-1m.v3.dbn.zst")));
}

TEST(DbnWriterTest, BarsAndMappingsComeBackAsTheyWereWritten) {
  const TempFolder folder;
  // More than the writer's and the reader's buffers hold.
  const int bars = 10000;
  write_bars(folder / "x.dbn.zst", bars);
  const auto reader = open_reader(folder / "x.dbn.zst");
  EXPECT_EQ(reader->info().version, 3);
  EXPECT_EQ(reader->info().schema, "ohlcv-1m");
  EXPECT_EQ(reader->info().symbols, minute_info().symbols);
  for (int i = 0; i < bars; ++i) {
    const Record* record = reader->next();
    ASSERT_NE(record, nullptr);
    const Bar want = minute_bar(i);
    const Bar& got = std::get<Bar>(*record);
    ASSERT_EQ(got.instrument, want.instrument);
    ASSERT_EQ(got.start, want.start);
    ASSERT_EQ(got.span, want.span);
    ASSERT_EQ(got.close, want.close);
    ASSERT_EQ(got.volume, want.volume);
    if (i == 0) {
      EXPECT_EQ(reader->symbol_of(got.instrument, got.start), "ESZ3");
    }
  }
  EXPECT_EQ(reader->next(), nullptr);
  EXPECT_EQ(reader->stats().frames, 1);
  EXPECT_FALSE(reader->stats().truncated);
}

TEST(DbnWriterTest, NullPricesAreUndefinedInTheFileAndNullAgain) {
  const TempFolder folder;
  DbnWriter writer(folder / "x", minute_info());
  writer.write(Bar{.instrument = {1, 1}});
  EXPECT_EQ(writer.records(), 1);
  writer.finish();
  const auto reader = open_reader(folder / "x");
  const Bar bar = std::get<Bar>(*reader->next());
  EXPECT_TRUE(bar.open.is_null());
  EXPECT_TRUE(is_null(bar.start));
}

TEST(DbnWriterTest, DefinitionsAreWritten) {
  const TempFolder folder;
  StreamInfo info = minute_info();
  info.schema = "definition";
  const Definition es{.instrument = {1, 1},
                      .ts_event = parse_time("2013-10-06"),
                      .ts_recv = parse_time("2013-10-06"),
                      .raw_symbol = "ESZ3",
                      .asset = "ES",
                      .exchange = "XCME",
                      .currency = "USD",
                      .instrument_class = 'F',
                      .update_action = 'A',
                      .min_price_increment = {250'000'000},
                      .unit_of_measure_qty = {50'000'000'000}};
  DbnWriter writer(folder / "x", info, {.compress = false});
  writer.write(es);
  writer.finish();
  const auto reader = open_reader(folder / "x");
  EXPECT_EQ(reader->info().schema, "definition");
  const Definition d = std::get<Definition>(*reader->next());
  EXPECT_EQ(d.raw_symbol, "ESZ3");
  EXPECT_EQ(d.asset, "ES");
  EXPECT_EQ(d.min_price_increment, es.min_price_increment);
  EXPECT_EQ(d.unit_of_measure_qty, es.unit_of_measure_qty);
  EXPECT_TRUE(d.strike_price.is_null());
  EXPECT_FALSE(d.expiration.has_value());
  EXPECT_EQ(reader->next(), nullptr);
}

TEST(DbnWriterTest, TheSameBarsGiveTheSameBytes) {
  const TempFolder folder;
  write_bars(folder / "a", 5000);
  write_bars(folder / "b", 5000);
  EXPECT_EQ(read_file(folder / "a"), read_file(folder / "b"));
}

TEST(DbnWriterTest, TheFileAppearsAtTheEndAndOnlyWhole) {
  const TempFolder folder;
  write_file_atomic(folder / "x", "old");
  {
    DbnWriter writer(folder / "x", minute_info());
    for (int i = 0; i < 10000; ++i) writer.write(minute_bar(i));
    EXPECT_EQ(read_file(folder / "x"), "old");
  }
  EXPECT_EQ(read_file(folder / "x"), "old") << "given up without finish()";
  EXPECT_EQ(folder.entries(), 1) << "no temporary file is left";
  write_bars(folder / "x", 3);
  EXPECT_EQ(folder.entries(), 1);
  EXPECT_NE(read_file(folder / "x"), "old");
}

TEST(DbnWriterTest, TwoWritersOfOneNameDoNotMixTheirBytes) {
  const TempFolder folder;
  DbnWriter first(folder / "x", minute_info(), {.compress = false});
  DbnWriter second(folder / "x", minute_info(), {.compress = false});
  first.write(minute_bar(1));
  first.finish();
  second.write(minute_bar(2));
  second.write(minute_bar(3));
  second.finish();
  const auto reader = open_reader(folder / "x");
  EXPECT_EQ(std::get<Bar>(*reader->next()).volume, 2U);
  EXPECT_NE(reader->next(), nullptr);
  EXPECT_EQ(reader->next(), nullptr);
}

/// Files of this process may not grow over `bytes` while this lives: a disk that is full.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    old_handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, old_handler_);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit old_{};
  void (*old_handler_)(int) = nullptr;
};

TEST(DbnWriterTest, ADiskThatIsFullLeavesTheOldFileAndNothingElse) {
  const TempFolder folder;
  write_file_atomic(folder / "x", "old");
  for (const bool compress : {false, true}) {
    DbnWriter writer(folder / "x", minute_info(), {.compress = compress});
    const FileSizeLimit limit(8192);
    const std::string text = error_of<IoError>([&] {
      for (int i = 0; i < 100000; ++i) writer.write(minute_bar(i));
      writer.finish();
    });
    EXPECT_THAT(text, AllOf(HasSubstr("x: cannot be written"), HasSubstr("File too large")));
    EXPECT_THROW(writer.finish(), DataError) << "a file with a hole must not be put in place";
    EXPECT_EQ(read_file(folder / "x"), "old");
    EXPECT_EQ(folder.entries(), 1);
  }
}

TEST(DbnWriterTest, PlacesThatCannotBeWrittenAreNamed) {
  const TempFolder folder;
  EXPECT_THAT(error_of<IoError>([&] { DbnWriter(folder / "none/x", minute_info()); }),
              AllOf(HasSubstr("none/x: cannot be created"), HasSubstr("No such file")));
  fs::create_directory(folder / "taken");
  DbnWriter writer(folder / "taken", minute_info());
  EXPECT_THAT(error_of<IoError>([&] { writer.finish(); }), HasSubstr("cannot be put in place"));
  EXPECT_EQ(folder.entries(), 1);
}

TEST(DbnWriterTest, WhatDoesNotBelongIntoTheFileIsRefused) {
  const TempFolder folder;
  StreamInfo info = minute_info();
  for (const char* schema : {"trades", "ohlcv-eod", "mixed", "", "ohlcv"}) {
    info.schema = schema;
    EXPECT_THAT(error_of<DataError>([&] { DbnWriter(folder / "x", info); }),
                HasSubstr("schema '" + std::string(schema) + "' is not written"));
  }
  EXPECT_THROW(DbnWriter(folder / "x", minute_info(), {.level = 0}), ConfigError);
  EXPECT_THROW(DbnWriter(folder / "x", minute_info(), {.level = 23}), ConfigError);

  DbnWriter writer(folder / "x", minute_info());
  Bar hour = minute_bar(1);
  hour.span = std::chrono::hours{1};
  EXPECT_THAT(error_of<DataError>([&] { writer.write(hour); }),
              AllOf(HasSubstr("3600 s"), HasSubstr("ohlcv-1m")));
  EXPECT_THROW(writer.write(Definition{}), DataError);
  writer.write(minute_bar(5));
  writer.write(minute_bar(5));  // another instrument may have one at the same time
  EXPECT_THAT(error_of<DataError>([&] { writer.write(minute_bar(4)); }),
              AllOf(HasSubstr("record 2"), HasSubstr("2013-10-06T22:04:00Z")));
  writer.finish();
  EXPECT_THROW(writer.write(minute_bar(6)), DataError);
  EXPECT_EQ(writer.records(), 2);
}

}  // namespace
}  // namespace foxhunt::market
