#include "foxhunt/market/dbn/writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/dbn/stream.h"
#include "foxhunt/market/dbn/upgrade.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market::dbn {
namespace {

using test::error_of;
using testing::HasSubstr;

std::vector<std::filesystem::path> reference_files() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"data/dbn", "data/futures/es-mbo"}) {
    const auto root = test::shared_folder() / folder;
    if (!std::filesystem::exists(root)) continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      if (name.find(".dbn") != std::string::npos) files.push_back(entry.path());
    }
  }
  return files;
}

/// A stream written again: upgraded, plain or as a zstd frame.
std::string written(RecordStream& stream, bool compress = false) {
  std::string bytes;
  auto out = memory_output(bytes);
  if (compress) out = zstd_output(std::move(out), 3);
  RecordWriter writer(std::move(out), "again", stream.metadata());
  Upgrader upgrade;
  for (RawRecord record; stream.next(record);) writer.write(upgrade(record));
  writer.finish();
  EXPECT_EQ(writer.records(), stream.stats().records);
  return bytes;
}

RecordStream stream_of(std::string_view bytes) {
  return RecordStream(std::as_bytes(std::span(bytes)), "memory");
}

TEST(DbnRecordWriterTest, FilesOfVersionThreeAreTheSameByteForByteAndOldOnesAreTheSameTwice) {
  const auto files = reference_files();
  if (files.empty()) GTEST_SKIP() << "FOXHUNT_SHARED does not name the reference data";
  int same = 0;
  int upgraded = 0;
  for (const auto& path : files) {
    SCOPED_TRACE(path.string());
    const std::string plain = test::unpacked(read_file(path));
    RecordStream stream = stream_of(plain);
    const std::string again = written(stream);
    if (stream.has_metadata() && stream.version() == 3) {
      EXPECT_EQ(again, plain);
      ++same;
      continue;
    }
    RecordStream newest = stream_of(again);
    EXPECT_EQ(newest.version(), 3);
    EXPECT_EQ(newest.metadata().symbols, stream.metadata().symbols);
    EXPECT_EQ(written(newest), again);
    EXPECT_EQ(newest.stats().by_rtype, stream.stats().by_rtype);
    ++upgraded;
  }
  EXPECT_GE(same, 40);
  EXPECT_GE(upgraded, 100);
}

TEST(DbnRecordWriterTest, KeepsSendTimesLongerRecordsAndUnknownTypes) {
  const std::string sent("\x01\x02\x03\x04\x05\x06\x07\x08", 8);
  const std::string file = test::plain_metadata(0xFFFF, 3, /*ts_out=*/true) +
                           test::bar_record(0x21, 1, 10, 3, sent) +
                           test::bar_record(0x21, 2, 20, 4, "appended" + sent) +
                           test::record_head(0x77, 28, 9).zeros(4).str() + sent;
  RecordStream stream = stream_of(file);
  EXPECT_EQ(written(stream), file);
  RecordStream twice = stream_of(file);
  const std::string packed = written(twice, /*compress=*/true);
  EXPECT_EQ(test::unpacked(packed), file);
}

TEST(DbnRecordWriterTest, RefusesWhatAFileOfVersionThreeCannotHold) {
  std::string bytes;
  const DbnMetadata metadata;
  RecordWriter writer(memory_output(bytes), "out", metadata);
  const std::string bar = test::bar_record(0x21, 1, 10, 3);
  const RawRecord good{.bytes = std::as_bytes(std::span(bar)), .rtype = 0x21};
  writer.write(good);

  RawRecord old = good;
  old.version = 2;
  EXPECT_THAT(error_of<DataError>([&] { writer.write(old); }), HasSubstr("version 2"));
  RawRecord sent = good;
  sent.ts_out = 9;
  EXPECT_THAT(error_of<DataError>([&] { writer.write(sent); }), HasSubstr("ts_out"));
  RawRecord cut = good;
  cut.bytes = cut.bytes.first(52);
  EXPECT_THAT(error_of<DataError>([&] { writer.write(cut); }), HasSubstr("52 bytes; 56 to 1020"));
  const std::string big(1024, 'x');
  RawRecord over{.bytes = std::as_bytes(std::span(big)), .rtype = 0x77};
  EXPECT_THAT(error_of<DataError>([&] { writer.write(over); }), HasSubstr("1024 bytes"));
  over.bytes = over.bytes.first(18);
  EXPECT_THAT(error_of<DataError>([&] { writer.write(over); }), HasSubstr("18 bytes"));

  writer.finish();
  EXPECT_EQ(writer.records(), 1) << "what was refused left nothing";
  RecordStream back = stream_of(bytes);
  RawRecord record;
  EXPECT_TRUE(back.next(record));
  EXPECT_FALSE(back.next(record));
  EXPECT_THROW(writer.write(good), DataError) << "is finished";
}

TEST(DbnRecordWriterTest, LeavesNothingBehindWithoutFinish) {
  const test::TempFolder folder;
  { RecordWriter writer(file_output(folder / "x.dbn"), "x", DbnMetadata{}); }
  EXPECT_EQ(folder.entries(), 0);
  RecordWriter writer(file_output(folder / "x.dbn"), "x", DbnMetadata{});
  writer.finish();
  EXPECT_EQ(open_stream(folder / "x.dbn").stats().records, 0);
}

}  // namespace
}  // namespace foxhunt::market::dbn
