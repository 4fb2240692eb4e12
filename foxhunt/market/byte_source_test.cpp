#include "foxhunt/market/byte_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/market/dbn_test_support.h"

namespace foxhunt::market {
namespace {

using test::error_of;
using test::read_all;
using test::zstd_frame;
using testing::AllOf;
using testing::HasSubstr;

/// Text that neither compresses to nothing nor not at all.
std::string sample(std::size_t size, std::uint64_t seed) {
  Rng rng(seed);
  std::string text(size, '\0');
  for (char& c : text) c = static_cast<char>('a' + static_cast<char>(rng.below(5)));
  return text;
}

std::string skippable(unsigned nibble, std::string_view content) {
  return test::Bytes()
             .add(0x184D2A50U + nibble)
             .add(static_cast<std::uint32_t>(content.size()))
             .str() +
         std::string(content);
}

std::string read_memory(std::string stored) {
  return read_all(*memory_bytes(std::move(stored), "memory"));
}

TEST(ByteSourceTest, PlainBytesComeBackAsTheyAreForAnyStep) {
  // Sizes around the chunk of 128 KiB in which files are read.
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{3},
                                 std::size_t{131071}, std::size_t{131072}, std::size_t{300000}}) {
    const std::string plain = sample(size, 1);
    for (const std::size_t step : {std::size_t{7}, std::size_t{131072}, std::size_t{1} << 20}) {
      const auto source = memory_bytes(plain, "memory");
      EXPECT_EQ(read_all(*source, step), plain) << size << " in steps of " << step;
      EXPECT_EQ(source->frames(), 0);
      EXPECT_FALSE(source->truncated());
    }
  }
}

TEST(ByteSourceTest, AllFramesAreOneStreamSkippableAndEmptyOnesAmongThem) {
  const std::string first = sample(200000, 2);
  const std::string second = sample(10, 3);
  const std::string stored = skippable(0, "note") + zstd_frame(first) + zstd_frame("") +
                             skippable(15, sample(300000, 4)) + zstd_frame(second) +
                             skippable(3, "");
  for (const std::size_t step : {std::size_t{1}, std::size_t{4096}, std::size_t{1} << 20}) {
    const auto source = memory_bytes(stored, "memory");
    EXPECT_EQ(read_all(*source, step), first + second);
    EXPECT_EQ(source->frames(), 3);
    EXPECT_FALSE(source->truncated());
  }
}

TEST(ByteSourceTest, AFileIsReadLikeMemoryAndAnEmptyReadTakesNothing) {
  const test::TempFolder folder;
  write_file_atomic(folder / "x.txt", zstd_frame("hunting"));  // by content, not by name
  const auto source = open_bytes(folder / "x.txt");
  EXPECT_EQ(source->read({}), 0U);
  EXPECT_EQ(read_all(*source), "hunting");
  EXPECT_EQ(read_all(*source), "");
  EXPECT_EQ(source->name(), (folder / "x.txt").string());
}

TEST(ByteSourceTest, ACutStreamDeliversWhatIsWholeAndSaysSo) {
  const std::string parts[] = {sample(900, 5), sample(400, 6), sample(20, 7)};
  std::vector<std::size_t> ends = {0};
  std::string stored;
  for (const std::string& part : parts) ends.push_back((stored += zstd_frame(part)).size());
  const std::string whole = parts[0] + parts[1] + parts[2];

  for (std::size_t cut = 4; cut < stored.size(); ++cut) {  // below 4 there is no magic yet
    const auto source = memory_bytes(stored.substr(0, cut), "memory");
    const std::string got = read_all(*source, 64);
    EXPECT_EQ(got, whole.substr(0, got.size())) << cut;
    const auto end = std::find(ends.begin(), ends.end(), cut);
    EXPECT_EQ(source->truncated(), end == ends.end()) << cut;
    const auto done = std::upper_bound(ends.begin(), ends.end(), cut) - ends.begin() - 1;
    EXPECT_EQ(source->frames(), done) << cut;
    std::size_t least = 0;
    for (std::ptrdiff_t i = 0; i < done; ++i) least += parts[i].size();
    EXPECT_GE(got.size(), least) << cut;
  }
}

TEST(ByteSourceTest, ABlockThatLacksOnlyItsChecksumIsDeliveredAndTruncated) {
  std::string stored = zstd_frame("hunting");
  stored.resize(stored.size() - 1);
  const auto source = memory_bytes(stored, "memory");
  EXPECT_EQ(read_all(*source), "hunting");
  EXPECT_TRUE(source->truncated());
  EXPECT_EQ(source->frames(), 0);
}

TEST(ByteSourceTest, ACorruptSecondFrameIsNamedWithItsPlace) {
  const std::string first = sample(100000, 8);
  const std::string one = zstd_frame(first);
  std::string stored = one + zstd_frame(sample(5000, 9));
  stored[one.size() + 200] = static_cast<char>(stored[one.size() + 200] ^ 0x10);

  const auto source = memory_bytes(stored, "es.dbn.zst");
  std::vector<std::byte> part(first.size());
  ASSERT_EQ(source->read(part), part.size());  // the first frame is whole
  const std::string text = error_of<FormatError>([&] { read_all(*source); });
  EXPECT_THAT(text, HasSubstr("es.dbn.zst: zstd frame 2 (compressed offset "));
  const std::size_t offset = std::stoul(text.substr(text.find("offset ") + 7));
  EXPECT_GE(offset, one.size());
  EXPECT_LE(offset, stored.size());
  EXPECT_EQ(error_of<FormatError>([&] { read_all(*source); }), text) << "it stays broken";
}

TEST(ByteSourceTest, AChangedByteOfTheContentFailsTheChecksum) {
  std::string stored = zstd_frame("x", /*level=*/1);
  const std::size_t at = stored.find('x', 4);
  ASSERT_NE(at, std::string::npos) << "one byte is stored as it is";
  stored[at] = 'y';
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(stored); }), HasSubstr("checksum"));
}

TEST(ByteSourceTest, BytesBehindAFrameMustBeAFrame) {
  const std::string frame = zstd_frame("hunting");
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(frame + "tail"); }),
              AllOf(HasSubstr("frame 2"), HasSubstr("no zstd frame"),
                    HasSubstr("offset " + std::to_string(frame.size()))));
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(frame + "\n"); }),
              HasSubstr("no zstd frame"));
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(frame + "\x28\xB5\x2E"); }),
              HasSubstr("no zstd frame"));
  for (const char* start : {"\x28", "\x28\xB5", "\x28\xB5\x2F", "\x5B", "\x50\x2A\x4D"}) {
    const auto source = memory_bytes(frame + start, "memory");
    EXPECT_EQ(read_all(*source), "hunting");
    EXPECT_TRUE(source->truncated()) << "the beginning of another frame";
  }
}

TEST(ByteSourceTest, ASkippableFrameThatIsCutIsTruncated) {
  const std::string note = skippable(1, "a longer note");
  const auto source = memory_bytes(zstd_frame("hunting") + note.substr(0, 12), "memory");
  EXPECT_EQ(read_all(*source), "hunting");
  EXPECT_TRUE(source->truncated());
}

TEST(ByteSourceTest, LegacyDbzIsRefusedByName) {
  const auto source = open_bytes(test::fixture("test_data.mbo.dbz"));
  EXPECT_THAT(error_of<FormatError>([&] { read_all(*source); }),
              AllOf(HasSubstr("test_data.mbo.dbz"), HasSubstr("DBZ"), HasSubstr("dbn tool")));
}

TEST(ByteSourceTest, AFrameThatAsksForTooMuchMemoryIsRefused) {
  // Window descriptor 0xA8: 2^31 bytes. Then one empty raw block, the last.
  const std::string stored("\x28\xB5\x2F\xFD\x00\xA8\x01\x00\x00", 9);
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(stored); }), HasSubstr("too much memory"));
}

TEST(ByteSourceTest, FilesThatCannotBeReadAreNamed) {
  const test::TempFolder folder;
  EXPECT_THAT(error_of<IoError>([&] { open_bytes(folder / "none"); }),
              AllOf(HasSubstr("none"), HasSubstr("No such file")));
  EXPECT_THAT(error_of<IoError>([&] { open_bytes(folder / ""); }), HasSubstr("directory"));
}

TEST(ByteSourceTest, FlippedBytesEndInATypedErrorOrInAnEnd) {
  const std::string plain = sample(3000, 10);
  const std::string stored =
      zstd_frame(plain.substr(0, 1000)) + skippable(2, "note") + zstd_frame(plain.substr(1000));
  Rng rng(11);
  int errors = 0;
  int silent = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string broken = stored;
    for (auto n = rng.below(3) + 1; n > 0; --n) {
      broken[rng.below(broken.size())] = static_cast<char>(rng.next());
    }
    try {
      const auto source = memory_bytes(broken, "memory");
      const std::string got = read_all(*source, 100);
      const bool by_magic = source->frames() == 0 && !source->truncated();  // now a plain file
      silent += got != plain && !source->truncated() && !by_magic;
    } catch (const FormatError&) {
      ++errors;
    }
  }
  EXPECT_GT(errors, 2000);
  // The one change that no checksum sees: a second frame turned into a skippable one or the length
  // of the note made to cover it.
  EXPECT_LT(silent, 10) << silent;
}

TEST(PeekSourceTest, WhatWasPeekedIsReadAgain) {
  const std::string plain = sample(5000, 12);
  PeekSource source(memory_bytes(zstd_frame(plain), "memory"));
  EXPECT_EQ(source.peek(3).size(), 3U);
  EXPECT_EQ(std::to_integer<char>(source.peek(10)[9]), plain[9]);
  std::vector<std::byte> part(4);
  EXPECT_EQ(source.read(part), 4U);
  EXPECT_EQ(std::to_integer<char>(source.peek(1)[0]), plain[4]);
  EXPECT_EQ(source.peek(9000).size(), plain.size() - 4) << "the rest, no more";
  EXPECT_EQ(read_all(source), plain.substr(4));
  EXPECT_TRUE(source.peek(1).empty());
  EXPECT_EQ(source.frames(), 1);
}

TEST(ByteSource, AFrameThatHoldsLessThanItSaysIsRefusedInPiecesOfAnySize) {
  using namespace std::string_literals;
  // One segment that says 255 bytes; blocks: none, or three raw bytes; an empty last block.
  for (const std::string& frame : {"\x28\xB5\x2F\xFD\x20\xFF\x01\x00\x00"s,
                                   "\x28\xB5\x2F\xFD\x20\xFF\x18\x00\x00"s + "abc\x01\x00\x00"s}) {
    for (const std::size_t size : {1U, 2U, 100U, 255U, 1000U}) {
      const auto source = memory_bytes(frame, "short");
      std::vector<std::byte> piece(size);
      EXPECT_THROW(
          {
            while (source->read(piece) == size) {
            }
          },
          FormatError)
          << frame.size() << " in pieces of " << size;
    }
  }
}

/// Frames of all sorts: several windows, one segment, raw and repeated bytes, nothing; of text that
/// looks back as far as its window.
struct Frames {
  std::string stored{};
  std::string plain{};
  int count = 0;
};

std::string frame_of(std::string_view plain, int window_log, bool says_size) {
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, window_log);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, says_size ? 1 : 0);
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  frame.resize(
      ZSTD_compress2(context.get(), frame.data(), frame.size(), plain.data(), plain.size()));
  return frame;
}

Frames frames_of_all_sorts() {
  Rng rng(21);
  Frames frames;
  for (const int window_log : {10, 17, 12, 19, 21, 11}) {
    for (const bool says_size : {true, false}) {
      std::string part = sample(1000, rng.next()) + std::string(70'000, 'r');
      for (int i = 0; i < 2000; ++i) part += static_cast<char>(rng.next());  // does not compress
      // Half of it copies what lies about a window before.
      while (part.size() < 9 * (std::size_t{1} << static_cast<unsigned>(window_log)) / 2) {
        const std::size_t back = std::min<std::size_t>(
            part.size(), (std::size_t{1} << static_cast<unsigned>(window_log)) - rng.below(100));
        part += part.substr(part.size() - back, 5 + rng.below(200)) + sample(50, rng.next());
      }
      frames.stored += frame_of(part, window_log, says_size) + skippable(1, "note");
      frames.stored += frame_of("", 20, says_size);
      frames.plain += part;
      frames.count += 2;
    }
  }
  return frames;
}

TEST(ByteSourceTest, WhatLiesInPlaceIsWhatIsReadHoweverMuchOfItIsKept) {
  const Frames frames = frames_of_all_sorts();
  EXPECT_EQ(read_memory(frames.stored), frames.plain);
  for (const std::size_t most :
       {std::size_t{0}, std::size_t{1}, std::size_t{1020}, std::size_t{65536}}) {
    Rng rng(22 + most);
    const auto source = memory_bytes(frames.stored, "memory");
    std::span<const std::byte> front;
    std::size_t taken = 0;
    std::size_t steps = 0;
    for (;; ++steps) {
      const auto rest = front.last(rng.below(std::min(front.size(), most) + 1));
      taken += front.size() - rest.size();
      const std::size_t kept = rest.size();
      front = source->more(rest);
      ASSERT_LE(taken + front.size(), frames.plain.size());
      ASSERT_EQ(std::memcmp(front.data(), frames.plain.data() + taken, front.size()), 0) << taken;
      if (front.size() == kept) break;
      ASSERT_LE(front.size() - kept, std::size_t{128} << 10) << "a block a call";
    }
    EXPECT_EQ(taken + front.size(), frames.plain.size());
    EXPECT_EQ(source->frames(), frames.count);
    EXPECT_FALSE(source->truncated());
    EXPECT_GT(steps, 100U);
  }
}

TEST(ByteSourceTest, AWindowBetweenTwoPowersOfTwoIsKeptWhole) {
  // The same 1.9 MB of noise four times: the window must hold all of it. Its byte says 2 MiB; 0x57
  // says 15/16 of that (RFC 8878, 3.1.1.1.2).
  Rng rng(26);
  std::string noise(1'900'000, '\0');
  for (char& c : noise) c = static_cast<char>(rng.next());
  const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(),
                                                                     &ZSTD_freeCCtx);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_windowLog, 21);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_enableLongDistanceMatching, 1);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_contentSizeFlag, 0);
  ZSTD_CCtx_setParameter(context.get(), ZSTD_c_checksumFlag, 1);
  const std::string plain = noise + noise + noise + noise;
  std::string frame(ZSTD_compressBound(plain.size()), '\0');
  frame.resize(
      ZSTD_compress2(context.get(), frame.data(), frame.size(), plain.data(), plain.size()));
  ASSERT_LT(frame.size(), noise.size() * 11 / 10) << "it does look back";
  ASSERT_EQ(frame[5], 0x58);
  frame[5] = 0x57;
  EXPECT_EQ(read_memory(frame), plain);
}

TEST(ByteSourceTest, WhereABlockIsDamagedTheRestStaysAndTheErrorToo) {
  const std::string first = sample(3000, 23);
  // The second frame's window makes the ring grow.
  std::string stored = frame_of(first, 10, false) + frame_of(sample(1'500'000, 24), 20, false);
  const std::size_t damaged = stored.size() - 2000;
  stored[damaged] = static_cast<char>(stored[damaged] ^ 0x10);
  for (const bool early : {false, true}) {
    if (early) stored[frame_of(first, 10, false).size() + 400] ^= 0x10;
    const auto source = memory_bytes(stored, "memory");
    std::string seen;
    std::string front;
    std::span<const std::byte> held;
    std::string error;
    for (int errors = 0; errors < 3;) {
      const auto rest = held.last(std::min<std::size_t>(held.size(), 700));
      try {
        held = source->more(rest);
        front.assign(reinterpret_cast<const char*>(held.data()), held.size());
      } catch (const FormatError& failure) {
        held = rest;
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(rest.data()), rest.size()),
                  front.substr(front.size() - rest.size()));
        EXPECT_TRUE(error.empty() || error == failure.what()) << failure.what();
        error = failure.what();
        ++errors;
      }
    }
    EXPECT_THAT(error, HasSubstr("zstd frame 2"));
  }
}

TEST(ByteSourceTest, ADictionaryThatIsNotThereIsRefusedByName) {
  // Dictionary 7 by a one-byte field; an empty last block.
  const std::string stored("\x28\xB5\x2F\xFD\x01\x58\x07\x01\x00\x00", 10);
  EXPECT_THAT(error_of<FormatError>([&] { read_memory(stored); }), HasSubstr("Dictionary"));
}

TEST(ByteSourceTest, OfARawBlockWhatIsThereIsDelivered) {
  using namespace std::string_literals;
  // A window of 1 KiB, no size; raw blocks of three bytes (not the last) and of four (the last).
  const std::string stored =
      "\x28\xB5\x2F\xFD\x00\x00\x18\x00\x00"s + "abc" + "\x21\x00\x00"s + "defg";
  EXPECT_EQ(read_memory(stored), "abcdefg");
  for (std::size_t cut = 1; cut <= 4; ++cut) {
    const auto source = memory_bytes(stored.substr(0, stored.size() - cut), "memory");
    EXPECT_EQ(read_all(*source), std::string("abcdefg").substr(0, 7 - cut));
    EXPECT_TRUE(source->truncated());
    EXPECT_EQ(source->frames(), 0);
  }
}

TEST(PeekSourceTest, WhatWasPeekedComesInPlaceFirst) {
  const std::string plain = sample(500'000, 25);
  for (const bool packed : {false, true}) {
    PeekSource source(memory_bytes(packed ? zstd_frame(plain) : plain, "memory"));
    source.peek_more(10);
    source.peek(300);
    std::string seen;
    for (std::span<const std::byte> all; !(all = source.more({})).empty();) {
      seen.append(reinterpret_cast<const char*>(all.data()), all.size());
    }
    EXPECT_EQ(seen, plain) << packed;
  }
}

}  // namespace
}  // namespace foxhunt::market
