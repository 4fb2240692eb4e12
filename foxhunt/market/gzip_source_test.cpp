#include "foxhunt/market/gzip_source.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/csv_test_support.h"

namespace foxhunt::market {
namespace {

using test::gzip;
using test::text_source;

struct Unpacked {
  std::string text;
  std::int64_t frames = 0;
  bool truncated = false;
};

Unpacked unpack(std::string bytes, std::size_t piece_size = 1000) {
  const auto source = gunzip(text_source(std::move(bytes)));
  Unpacked result;
  std::string piece(piece_size, '\0');
  for (std::size_t n = piece.size(); n == piece.size();) {
    n = source->read(std::as_writable_bytes(std::span(piece)));
    result.text.append(piece, 0, n);
  }
  result.frames = source->frames();
  result.truncated = source->truncated();
  return result;
}

std::string long_text() {
  std::string text;
  for (int i = 0; i < 60'000; ++i) text += std::to_string(i * 7919) + "\n";
  return text;
}

TEST(Gunzip, PassesOtherBytesThrough) {
  for (const std::string& text :
       {std::string(), std::string("a"), std::string("\x1F"), long_text()}) {
    EXPECT_TRUE(unpack(text).text == text);
  }
}

TEST(Gunzip, UnpacksAllMembersOfAFile) {
  const std::string text = long_text();
  const Unpacked result = unpack(gzip(text) + gzip("") + gzip("tail"));
  EXPECT_TRUE(result.text == text + "tail") << "a long text: no line by line comparison";
  EXPECT_EQ(result.frames, 3);
  EXPECT_FALSE(result.truncated);
}

TEST(Gunzip, SaysWhereAFileIsCutAndDeliversWhatIsWhole) {
  const std::string text = long_text();
  const std::string packed = gzip(text);
  for (const std::size_t cut : {packed.size() - 1, packed.size() / 2, std::size_t{3}}) {
    const Unpacked result = unpack(packed.substr(0, cut));
    EXPECT_TRUE(result.truncated) << cut;
    EXPECT_TRUE(text.starts_with(result.text)) << cut;
  }
}

TEST(Gunzip, ACutFileGivesTheSameBytesInPiecesOfAnySize) {
  // Long matches: zlib then owes output whose input it has taken when a small piece is full.
  std::string text;
  for (int i = 0; i < 40; ++i) text += "0123456789";
  const std::string packed = gzip(text);
  for (std::size_t cut = 0; cut < packed.size(); ++cut) {
    const Unpacked whole = unpack(packed.substr(0, cut), 1 << 16);
    for (const std::size_t size : {1U, 2U, 61U, 100U}) {
      const Unpacked pieces = unpack(packed.substr(0, cut), size);
      EXPECT_EQ(pieces.text, whole.text) << cut << " in pieces of " << size;
      EXPECT_EQ(pieces.truncated, whole.truncated) << cut << " in pieces of " << size;
    }
  }
}

TEST(Gunzip, RefusesCorruptBytesWithTheirPlace) {
  std::string packed = gzip(long_text());
  packed[packed.size() - 6] ^= 0x40;  // the checksum of the member
  EXPECT_THROW(unpack(packed), FormatError);
  EXPECT_EQ(test::error_of([&] { unpack(gzip("abc") + "trailing text"); }).substr(0, 23),
            "bars.csv: byte 25: corr");
}

}  // namespace
}  // namespace foxhunt::market
