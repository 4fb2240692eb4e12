// Any bytes through the sources under every reader: plain, zstd frames, gzip members, and looking
// ahead. How they are read, in large or in small pieces or in place, changes nothing; what comes
// out and is packed again comes out again; a bomb costs no more than its buffers.
#include <zstd.h>

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/market/byte_source.h"
#include "foxhunt/market/gzip_source.h"

#include "fuzz/fuzz.h"

namespace fuzz = foxhunt::fuzz;
namespace market = foxhunt::market;

namespace {

constexpr std::size_t kMostRead = std::size_t{1} << 16;  // of a bomb, that much is enough

struct Outcome {
  std::string bytes;
  std::string error;
  std::int64_t frames = 0;
  bool truncated = false;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

/// Reads to the end, an error or kMostRead bytes, in pieces of `sizes` in turn.
Outcome read_all(market::ByteSource& source, const std::vector<std::size_t>& sizes) {
  Outcome outcome;
  std::vector<std::byte> memory(*std::max_element(sizes.begin(), sizes.end()));
  try {
    for (std::size_t i = 0; outcome.bytes.size() < kMostRead; ++i) {
      const auto piece = std::span(memory).first(
          std::min(sizes[i % sizes.size()], kMostRead - outcome.bytes.size()));
      const std::size_t got = source.read(piece);
      fuzz::require(got <= piece.size(), "a read stays inside its memory");
      outcome.bytes.append(reinterpret_cast<const char*>(piece.data()), got);
      if (got < piece.size()) {
        fuzz::require(source.read(piece) == 0, "the end is the end");
        break;
      }
    }
  } catch (const foxhunt::FormatError& error) {
    outcome.error = error.what();
    std::byte more[16];
    try {
      fuzz::require(source.read(more) == 0, "nothing follows an error");
    } catch (const foxhunt::FormatError&) {
    }
  }
  outcome.frames = source.frames();
  outcome.truncated = source.truncated();
  return outcome;
}

/// The same bytes come out; where small pieces meet an error, large ones may have lost the last
/// piece to it.
void require_same(const Outcome& large, const Outcome& small) {
  if (large.error.empty() && small.error.empty() && large.bytes.size() < kMostRead) {
    fuzz::require(large == small, "the size of the pieces changes nothing");
  }
  fuzz::require(large.bytes == small.bytes.substr(0, large.bytes.size()),
                "the size of the pieces changes no byte");
  if (small.bytes.size() < kMostRead && large.bytes.size() < kMostRead) {
    fuzz::require(large.error.empty() == small.error.empty(), "an error is one in all pieces");
  }
}

void peek_and_read(const std::string& input, const Outcome& expected) {
  market::PeekSource source(market::memory_bytes(input, "fuzz"));
  try {
    const auto first = source.peek(7);
    const std::string seen(reinterpret_cast<const char*>(first.data()), first.size());
    const auto longer = source.peek(300);
    fuzz::require(longer.size() >= seen.size(), "looking further shows no less");
    fuzz::require(seen == std::string(reinterpret_cast<const char*>(longer.data()), seen.size()),
                  "looking takes nothing");
  } catch (const foxhunt::FormatError&) {
    return;
  }
  require_same(expected, read_all(source, {3, 500, 1}));
}

/// In place the same bytes lie, however much of them is kept; the rest stays where an error comes.
void look_in_place(const std::string& input, const Outcome& expected) {
  const auto source = market::memory_bytes(input, "fuzz");
  std::string seen;
  std::string error;
  std::span<const std::byte> all;
  for (std::size_t turn = 0; seen.size() < kMostRead; ++turn) {
    const auto rest = all.last(std::min(all.size(), turn * 37 % 1021));
    try {
      all = source->more(rest);
    } catch (const foxhunt::FormatError& failure) {
      error = failure.what();
      all = rest;
    }
    const std::string text(reinterpret_cast<const char*>(all.data()), all.size());
    fuzz::require(seen.ends_with(text.substr(0, rest.size())), "what is kept stays as it is");
    seen.append(text, rest.size());
    if (all.size() == rest.size()) break;
  }
  if (seen.size() >= kMostRead) {
    seen.resize(kMostRead);
    error.clear();
  }
  require_same(expected, {seen, error, source->frames(), source->truncated()});
}

void pack_again(const std::string& bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1));
  const auto source = market::memory_bytes(packed, "fuzz");
  const Outcome again = read_all(*source, {kMostRead + 1});
  fuzz::require(again.error.empty() && again.bytes == bytes && again.frames == 1,
                "what is packed again comes out again");
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string input = fuzz::text_of(data, size);
  const fuzz::AllocationLimit limit((std::size_t{4} << 20) + 8 * size);
  const auto plain = market::memory_bytes(input, "fuzz");
  const Outcome large = read_all(*plain, {kMostRead + 1});
  require_same(large, read_all(*market::memory_bytes(input, "fuzz"), {1, 2, 61, 4096}));
  peek_and_read(input, large);
  look_in_place(input, large);
  const bool packed =
      input.starts_with("\x28\xB5\x2F\xFD") ||
      (size >= 4 && (data[0] & 0xF0U) == 0x50 && input.substr(1, 3) == "\x2A\x4D\x18");
  if (!packed) {
    fuzz::require(large.error.empty() && large.bytes == input.substr(0, kMostRead),
                  "plain bytes pass as they are");
  }
  if (large.error.empty() && large.bytes.size() <= 4096) pack_again(large.bytes);  // slow

  std::optional<Outcome> unpacked;
  try {
    unpacked = read_all(*market::gunzip(market::memory_bytes(input, "fuzz")), {kMostRead + 1});
  } catch (const foxhunt::FormatError&) {  // the constructor looks at the first bytes
  }
  if (unpacked) {
    require_same(*unpacked,
                 read_all(*market::gunzip(market::memory_bytes(input, "fuzz")), {1, 2, 61, 4096}));
  }
  return 0;
}
