// Any change of any byte of a bundle is refused, by FormatError.
#include "foxhunt/bundle/digest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/bundle/test_bundle.h"

namespace foxhunt::bundle {
namespace {

std::span<const std::byte> span_of(std::string_view text) { return std::as_bytes(std::span(text)); }

/// Whether parse_bundle() refuses the bytes, and by the only error that it may.
bool refused(std::string_view bytes) {
  try {
    parse_bundle(span_of(bytes), "es.fox");
  } catch (const FormatError&) {
    return true;
  }
  return false;
}

void flip(std::string& bytes, std::size_t bit) {
  bytes[bit / 8] = static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) ^ (1U << bit % 8));
}

std::size_t header_end(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), 8);
  return 8 + static_cast<std::size_t>(length);
}

std::string message(const std::string& bytes) {
  try {
    checked_digest(span_of(bytes), "es.fox");
  } catch (const FormatError& error) {
    return error.what();
  }
  return "no error";
}

TEST(Digest, RefusesEveryFlippedBitOfTheHeader) {
  std::string bytes = bundle_bytes(test::small_bundle(), "es.fox");
  ASSERT_FALSE(refused(bytes));
  for (std::size_t bit = 0; bit < 8 * header_end(bytes); ++bit) {
    flip(bytes, bit);
    ASSERT_TRUE(refused(bytes)) << "bit " << bit;
    flip(bytes, bit);
  }
  EXPECT_FALSE(refused(bytes));
}

TEST(Digest, RefusesFlippedBitsOfTheTensors) {
  std::string bytes = bundle_bytes(test::small_bundle(), "es.fox");
  const std::size_t begin = 8 * header_end(bytes);
  Rng rng(3);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t bit = begin + rng.below(8 * bytes.size() - begin);
    flip(bytes, bit);
    ASSERT_TRUE(refused(bytes)) << "bit " << bit;
    flip(bytes, bit);
  }
  flip(bytes, 8 * bytes.size() - 1);
  EXPECT_TRUE(refused(bytes)) << "the last one";
}

TEST(Digest, RefusesEveryTruncationAndWhatFollows) {
  const std::string bytes = bundle_bytes(test::small_bundle(), "es.fox");
  for (std::size_t size = 0; size < bytes.size(); ++size)
    ASSERT_TRUE(refused(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_TRUE(refused(bytes + '\0'));
  EXPECT_TRUE(refused(bytes + bytes));
}

TEST(Digest, IsTheSha256OfTheFileWithZerosForItsDigits) {
  std::string bytes = bundle_bytes(test::small_bundle(), "es.fox");
  const std::string stated = checked_digest(span_of(bytes), "es.fox");
  bytes.replace(bytes.find(stated), 64, std::string(64, '0'));
  EXPECT_EQ(sha256_of(bytes), stated);
  std::string again = bytes;
  EXPECT_EQ(seal(again, "es.fox"), stated);
}

/// A file that has this text for its header.
std::string with_header(const std::string& header) {
  std::string bytes(8, '\0');
  const std::uint64_t length = header.size();
  std::memcpy(bytes.data(), &length, 8);
  return bytes + header;
}

TEST(Digest, NeedsOnePlaceInTheHeader) {
  const std::string zeros(64, '0');
  const std::string entry = "\"foxhunt.sha256\":\"" + zeros + "\"";
  std::string good = with_header("{" + entry + "}");
  EXPECT_EQ(seal(good, "x").size(), 64U);
  EXPECT_EQ(message(good), "no error");
  EXPECT_THAT(message(with_header("{" + entry + "," + entry + "}")), testing::HasSubstr("twice"));
  EXPECT_THAT(message(with_header("{}") + entry), testing::HasSubstr("is no bundle"));
  EXPECT_THAT(message(with_header("{\"foxhunt.sha256\":\"" + zeros.substr(1) + "\"}")),
              testing::HasSubstr("64 hexadecimal digits"));
  EXPECT_THAT(message(with_header("{\"foxhunt.sha256\":\"" + zeros)),
              testing::HasSubstr("es.fox: the file is damaged"));
  EXPECT_THAT(message(""), testing::HasSubstr("is no bundle"));
  EXPECT_THAT(message("\"foxhunt.sha256\":\""), testing::HasSubstr("is no bundle"));
}

}  // namespace
}  // namespace foxhunt::bundle
