#include "foxhunt/base/bytes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <functional>
#include <limits>

#include "foxhunt/base/rng.h"

namespace foxhunt {
namespace {

enum class Colour : std::uint16_t { kRed = 1, kBlue = 513 };

std::string refusal(std::span<const std::byte> bytes,
                    const std::function<void(ByteReader&)>& read) {
  ByteReader in(bytes, "a.state");
  try {
    read(in);
  } catch (const FormatError& error) {
    return error.what();
  }
  return "";
}

TEST(Bytes, ValuesLieInLittleEndianOrderWithoutPadding) {
  ByteWriter out;
  out.value(std::uint32_t{0x01020304});
  out.value(true);
  out.value(Colour::kBlue);
  out.value(1.0F);
  out.text("ab");
  const std::array<unsigned char, 21> want{4, 3, 2, 1, 1, 1, 2, 0, 0,   0x80, 0x3F,
                                           2, 0, 0, 0, 0, 0, 0, 0, 'a', 'b'};
  EXPECT_THAT(out.bytes(), testing::ElementsAreArray(
                               reinterpret_cast<const std::byte*>(want.data()), want.size()));
}

TEST(Bytes, EveryBitComesBack) {
  Rng rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const std::uint64_t bits = rng.next();
    std::vector<double> doubles(rng.below(5));
    for (double& v : doubles) v = std::bit_cast<double>(rng.next());  // NaNs with payload, too
    ByteWriter out;
    out.value(std::bit_cast<double>(bits));
    out.value(static_cast<std::int8_t>(bits));
    out.value(bits % 2 == 0);
    out.list(std::span<const double>(doubles));
    out.text(std::string(3, '\0'));
    out.value(Colour::kBlue);

    ByteReader in(out.bytes(), "x");
    EXPECT_EQ(std::bit_cast<std::uint64_t>(in.value<double>()), bits);
    EXPECT_EQ(in.value<std::int8_t>(), static_cast<std::int8_t>(bits));
    EXPECT_EQ(in.value<bool>(), bits % 2 == 0);
    std::vector<double> back(doubles.size());
    in.list(std::span<double>(back));
    for (std::size_t i = 0; i < back.size(); ++i) {
      EXPECT_EQ(std::bit_cast<std::uint64_t>(back[i]), std::bit_cast<std::uint64_t>(doubles[i]));
    }
    EXPECT_EQ(in.text(), std::string(3, '\0'));
    EXPECT_EQ(in.value<Colour>(), Colour::kBlue);
    EXPECT_EQ(in.remaining(), 0U);
    EXPECT_EQ(in.position(), out.bytes().size());
    in.finish();
  }
}

TEST(Bytes, AnEndThatComesEarlyIsNamedWithItsPlace) {
  ByteWriter out;
  out.value(std::uint16_t{7});
  out.value(std::uint8_t{7});
  const auto read = [](ByteReader& in) {
    in.value<std::uint16_t>();
    in.value<std::uint32_t>();
  };
  EXPECT_EQ(refusal(out.bytes(), read), "a.state: byte 2: needs 4 bytes, 1 are left");
  EXPECT_EQ(refusal({}, [](ByteReader& in) { in.value<char>(); }),
            "a.state: byte 0: needs 1 bytes, 0 are left");
  EXPECT_EQ(refusal({}, [](ByteReader& in) { EXPECT_TRUE(in.raw(0).empty()); }), "");
}

TEST(Bytes, EveryTruncationIsRefused) {
  ByteWriter out;
  out.text("name");
  out.value(3.5);
  out.list(std::span<const std::int32_t>(std::array{1, 2, 3}));
  out.raw(std::as_bytes(std::span<const char>("xy", 2)));
  const auto read = [](ByteReader& in) {
    std::array<std::int32_t, 3> list{};
    in.text();
    in.value<double>();
    in.list(std::span<std::int32_t>(list));
    in.raw(2);
    in.finish();
  };
  EXPECT_EQ(refusal(out.bytes(), read), "");
  for (std::size_t n = 0; n < out.bytes().size(); ++n) {
    EXPECT_NE(refusal(std::span(out.bytes()).first(n), read), "") << n;
  }
  out.value(std::uint8_t{0});
  EXPECT_THAT(refusal(out.bytes(), read), testing::HasSubstr("1 bytes too many"));
}

TEST(Bytes, LengthsThatTheBytesCannotHoldTakeNoMemory) {
  for (const std::uint64_t size :
       {std::uint64_t{3}, std::uint64_t{1} << 40U, std::numeric_limits<std::uint64_t>::max()}) {
    ByteWriter out;
    out.value(size);
    out.value(std::uint16_t{0});
    const auto as_text = [](ByteReader& in) { in.text(std::numeric_limits<std::size_t>::max()); };
    const auto as_count = [](ByteReader& in) { in.count(1); };
    const auto as_list = [](ByteReader& in) {
      std::array<double, 2> list{};
      in.list(std::span<double>(list));
    };
    EXPECT_THAT(refusal(out.bytes(), as_text), testing::HasSubstr(std::to_string(size))) << size;
    EXPECT_THAT(refusal(out.bytes(), as_count), testing::HasSubstr(std::to_string(size))) << size;
    EXPECT_EQ(refusal(out.bytes(), as_list),
              "a.state: byte 8: a list of " + std::to_string(size) + " values, expected 2");
  }
  ByteWriter out;
  out.text(std::string(100, 'x'));
  EXPECT_EQ(refusal(out.bytes(), [](ByteReader& in) { in.text(99); }),
            "a.state: byte 8: a text of 100 bytes");
}

TEST(Bytes, ACountIsBoundedByTheRoomThatIsLeft) {
  ByteWriter out;
  out.value(std::uint64_t{2});
  out.value(std::uint32_t{0});
  out.value(std::uint32_t{0});
  EXPECT_EQ(refusal(out.bytes(), [](ByteReader& in) { EXPECT_EQ(in.count(4), 2U); }), "");
  EXPECT_EQ(refusal(out.bytes(), [](ByteReader& in) { in.count(5); }),
            "a.state: byte 8: a list of 2 entries, but 8 bytes are left");
}

TEST(Bytes, ATruthValueIsZeroOrOne) {
  for (int byte = 0; byte < 256; ++byte) {
    ByteWriter out;
    out.value(static_cast<std::uint8_t>(byte));
    const std::string text = refusal(out.bytes(), [](ByteReader& in) { in.value<bool>(); });
    EXPECT_EQ(text.empty(), byte < 2) << byte;
  }
}

TEST(Bytes, TakeLeavesTheWriterEmpty) {
  ByteWriter out;
  out.value(1);
  EXPECT_EQ(out.take().size(), sizeof(int));
  EXPECT_TRUE(out.bytes().empty());
  out.value('x');
  EXPECT_EQ(out.bytes().size(), 1U);
}

}  // namespace
}  // namespace foxhunt
