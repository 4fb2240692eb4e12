#include "foxhunt/base/state_part.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace foxhunt {
namespace {

std::vector<std::byte> two_parts() {
  ByteWriter payload;
  payload.value(7);
  payload.text("seven");
  ByteWriter out;
  write_part(out, "first", 3, payload.bytes());
  write_part(out, "second", 1, {});
  return out.take();
}

std::string refusal(std::span<const std::byte> bytes, std::string_view name = "first",
                    std::uint32_t version = 3) {
  ByteReader in(bytes, "a.state");
  try {
    read_part(in, name, version);
    read_part(in, "second", 1).finish();
    in.finish();
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(StatePart, PartsFollowOneAnother) {
  const auto bytes = two_parts();
  ByteReader in(bytes, "a.state");
  ByteReader first = read_part(in, "first", 3);
  EXPECT_EQ(first.value<int>(), 7);
  EXPECT_EQ(first.text(), "seven");
  first.finish();
  EXPECT_EQ(first.origin(), "a.state: first");
  EXPECT_EQ(refusal(bytes), "");
}

TEST(StatePart, NamesAnotherPartAndAnotherVersion) {
  EXPECT_THAT(refusal(two_parts(), "other"),
              testing::HasSubstr("the part 'first', expected 'other'"));
  EXPECT_THAT(refusal(two_parts(), "first", 4),
              testing::HasSubstr("'first' is of version 3, but this program reads version 4"));
}

TEST(StatePart, EveryFlippedBitAndEveryTruncationIsRefused) {
  const auto bytes = two_parts();
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_NE(refusal(std::span(bytes).first(n)), "") << n;
    for (unsigned bit = 0; bit < 8; ++bit) {
      auto damaged = bytes;
      damaged[n] ^= std::byte{1} << bit;
      EXPECT_NE(refusal(damaged), "") << n << " " << bit;
    }
  }
}

}  // namespace
}  // namespace foxhunt
