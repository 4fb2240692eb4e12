// xz streams, made by liblzma's own encoder: whole, several, cut, damaged.
#include "foxhunt/market/xz_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <lzma.h>

#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::market {
namespace {

std::string pack(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  EXPECT_EQ(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, nullptr,
                                    reinterpret_cast<const std::uint8_t*>(text.data()), text.size(),
                                    reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string some_text(std::size_t size) {
  Rng rng(1);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + rng.below(20));
  return text;
}

std::string all_of(ByteSource& source, std::size_t step) {
  std::string out;
  std::string part(step, '\0');
  while (const std::size_t n = source.read(std::as_writable_bytes(std::span(part)))) {
    out.append(part, 0, n);
  }
  return out;
}

TEST(XzSource, UnpacksAllStreamsInAnySteps) {
  const std::string one = some_text(300'000);
  for (const std::size_t step : {1000U, 65'536U, 1'000'000U}) {
    const auto source = unxz(memory_bytes(pack(one) + pack("two") + pack(""), "a.xz"));
    EXPECT_EQ(all_of(*source, step), one + "two");
    EXPECT_EQ(source->frames(), 3);
    EXPECT_FALSE(source->truncated());
  }
}

TEST(XzSource, PassesOtherBytesThrough) {
  for (const std::string text : {"", "a",
                                 "\xFD"
                                 "7zX",
                                 "id,timestamp"}) {
    const auto source = unxz(memory_bytes(text, "a.csv"));
    EXPECT_EQ(all_of(*source, 4), text);
    EXPECT_EQ(source->frames(), 0);
  }
}

TEST(XzSource, SaysWhereItIsCutAndHandsOutWhatIsWhole) {
  const std::string text = some_text(2000);
  const std::string packed = pack(text);
  for (std::size_t n = 6; n < packed.size(); n += 7) {
    const auto source = unxz(memory_bytes(packed.substr(0, n), "a.xz"));
    const std::string got = all_of(*source, 512);
    EXPECT_TRUE(source->truncated()) << n;
    EXPECT_TRUE(text.starts_with(got)) << n;
  }
}

TEST(XzSource, RefusesDamageAndBytesBehindAStream) {
  const auto refusal = [](const std::string& bytes) -> std::string {
    try {
      const auto source = unxz(memory_bytes(bytes, "a.xz"));
      all_of(*source, 512);
    } catch (const FormatError& error) {
      return error.what();
    }
    return "";
  };
  std::string bytes = pack(some_text(2000));
  EXPECT_EQ(refusal(bytes), "");
  EXPECT_THAT(refusal(bytes + "more of something"), testing::HasSubstr("xz stream 2"));
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  EXPECT_THAT(refusal(bytes), testing::HasSubstr("corrupt xz data in xz stream 1"));
}

}  // namespace
}  // namespace foxhunt::market
