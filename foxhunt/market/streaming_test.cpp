// Records of a pipe are handed out as they are written: plain, zstd and gzip, DBN and CSV.
#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/market/dbn_test_support.h"
#include "foxhunt/market/dbn_writer.h"
#include "foxhunt/market/reader.h"

namespace foxhunt::market {
namespace {

/// A pipe whose writer writes one piece whenever the reader waits for more.
class Pieces final : public ByteInput {
 public:
  Pieces(std::vector<std::string> pieces, std::size_t& given)
      : pieces_(std::move(pieces)), given_(given) {}
  std::size_t read(std::span<std::byte> out) override {
    if (given_ == pieces_.size()) return 0;
    const std::string& piece = pieces_[given_++];
    EXPECT_LE(piece.size(), out.size());
    std::memcpy(out.data(), piece.data(), piece.size());
    return piece.size();
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t& given_;
};

constexpr std::size_t kBars = 40;
constexpr std::size_t kBarBytes = 56;

std::string dbn_bytes() {
  const test::TempFolder folder;
  StreamInfo info;
  info.dataset = "GLBX.MDP3";
  info.schema = "ohlcv-1m";
  info.start = parse_time("2013-10-07T22:00");
  DbnWriter writer(folder / "a.dbn", info, {.compress = false});
  for (std::size_t i = 0; i < kBars; ++i) {
    const Price price{1'700'000'000'000 + static_cast<std::int64_t>(i)};
    writer.write(Bar{.instrument = {.publisher_id = 1, .instrument_id = 7},
                     .start = info.start + std::chrono::minutes{i},
                     .open = price,
                     .high = price,
                     .low = price,
                     .close = price,
                     .volume = i});
  }
  writer.finish();
  return read_file(folder / "a.dbn");
}

/// The metadata, then a record a piece.
std::vector<std::string> dbn_pieces() {
  const std::string bytes = dbn_bytes();
  const std::size_t head = bytes.size() - kBars * kBarBytes;
  std::vector<std::string> pieces{bytes.substr(0, head)};
  for (std::size_t i = 0; i < kBars; ++i)
    pieces.push_back(bytes.substr(head + i * kBarBytes, kBarBytes));
  return pieces;
}

std::vector<std::string> csv_pieces() {
  std::vector<std::string> pieces{"ts_event,open,high,low,close,volume\n"};
  for (std::size_t i = 0; i < kBars; ++i)
    pieces.push_back("2013-10-07T22:" + std::to_string(10 + i) + ":00Z,5,6,4,5," +
                     std::to_string(i) + "\n");
  return pieces;
}

/// Each piece compressed and flushed by itself, all in one frame that never ends.
std::vector<std::string> zstd(const std::vector<std::string>& pieces) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  std::vector<std::string> packed;
  for (const std::string& piece : pieces) {
    std::string out(ZSTD_compressBound(piece.size()) + 64, '\0');
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    ZSTD_inBuffer from{piece.data(), piece.size(), 0};
    EXPECT_EQ(ZSTD_compressStream2(context.get(), &to, &from, ZSTD_e_flush), 0U);
    packed.push_back(out.substr(0, to.pos));
  }
  return packed;
}

std::vector<std::string> gzip(const std::vector<std::string>& pieces) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::vector<std::string> packed;
  for (std::string piece : pieces) {
    std::string out(1024, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(piece.data());
    stream.avail_in = static_cast<uInt>(piece.size());
    stream.next_out = reinterpret_cast<Bytef*>(out.data());
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(deflate(&stream, Z_SYNC_FLUSH), Z_OK);
    packed.push_back(out.substr(0, out.size() - stream.avail_out));
  }
  deflateEnd(&stream);
  return packed;
}

void expect_no_waiting(const std::vector<std::string>& pieces, const ReadOptions& options = {},
                       std::size_t head = 1) {
  std::size_t given = 0;
  const auto reader = open_reader(std::make_unique<Pieces>(pieces, given), "a pipe", options);
  EXPECT_LE(given, head + 1) << "opening waits for the head and one record at most";
  for (std::size_t i = 0; i < kBars; ++i) {
    const Record* record = reader->next();
    ASSERT_NE(record, nullptr) << "record " << i;
    EXPECT_EQ(std::get<Bar>(*record).volume, i);
    ASSERT_LE(given, head + i + 1) << "record " << i << " waited for those behind it";
  }
  EXPECT_EQ(reader->next(), nullptr);
}

TEST(Streaming, HandsOutARecordAsSoonAsItsBytesAreWritten) {
  expect_no_waiting(dbn_pieces());
  expect_no_waiting(csv_pieces());
}

TEST(Streaming, HandsOutWhatACompressedStreamHasFlushed) {
  expect_no_waiting(zstd(dbn_pieces()));
  expect_no_waiting(zstd(csv_pieces()));
  expect_no_waiting(gzip(csv_pieces()));
}

TEST(Streaming, HandsOutAllOfAFlushThatIsLargerThanItsBuffers) {
  const std::vector<std::string> pieces = dbn_pieces();
  std::string many = pieces[0];
  constexpr std::int64_t kMany = 20'000;  // 1.1 MB that pack into a few KB: the decoder holds it
  for (std::int64_t i = 0; i < kMany; ++i) many += pieces[1];
  std::size_t given = 0;
  const std::vector<std::string> packed = zstd({many});
  ASSERT_LT(packed[0].size(), 60'000U);
  const auto reader = open_reader(
      std::make_unique<Pieces>(std::vector{packed[0], std::string("x")}, given), "a pipe");
  for (std::int64_t i = 0; i < kMany; ++i) ASSERT_NE(reader->next(), nullptr) << i;
  EXPECT_EQ(given, 1U) << "asked for more before it gave what it held";
}

TEST(Streaming, HandsOutRecordsWithoutMetadataWhenTheVersionIsGiven) {
  std::vector<std::string> pieces = dbn_pieces();
  pieces.erase(pieces.begin());
  expect_no_waiting(pieces, {.dbn_version = 3}, 0);
}

TEST(Streaming, TakesNoHalfLineOfAWriterThatDiedForARow) {
  std::vector<std::string> pieces = csv_pieces();
  pieces.back().pop_back();  // ",3" may have been going to be ",39"
  for (const bool whole : {true, false}) {
    std::size_t given = 0;
    const auto reader =
        open_reader(std::make_unique<Pieces>(pieces, given), "a pipe", {.whole_lines = whole});
    std::size_t count = 0;
    while (reader->next() != nullptr) ++count;
    EXPECT_EQ(count, whole ? kBars - 1 : kBars);
    EXPECT_EQ(reader->stats().rest_bytes > 0, whole);
  }
}

TEST(Streaming, GivesTheSameRecordsByteByByte) {
  for (const std::vector<std::string>& pieces :
       {dbn_pieces(), csv_pieces(), zstd(dbn_pieces()), gzip(csv_pieces())}) {
    std::vector<std::string> bytes;
    for (const std::string& piece : pieces) {
      for (const char c : piece) bytes.emplace_back(1, c);
    }
    std::size_t given = 0;
    const auto reader = open_reader(std::make_unique<Pieces>(bytes, given), "a pipe");
    std::uint64_t count = 0;
    while (const Record* record = reader->next()) {
      ASSERT_EQ(std::get<Bar>(*record).volume, count);
      ++count;
    }
    EXPECT_EQ(count, kBars);
    EXPECT_EQ(given, bytes.size());
  }
}

}  // namespace
}  // namespace foxhunt::market
