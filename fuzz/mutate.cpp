#include "fuzz/mutate.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string_view>

namespace foxhunt::fuzz {
namespace {

constexpr std::string_view kPieces[] = {"0",
                                        "-1",
                                        "-0",
                                        "1e999",
                                        "1e-400",
                                        "0.5",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "-9223372036854775808",
                                        "18446744073709551615",
                                        "4294967295",
                                        "nan",
                                        "inf",
                                        "null",
                                        "true",
                                        "\"\"",
                                        "\"Infinity\"",
                                        "{",
                                        "}",
                                        "[",
                                        "]",
                                        "[[[[[[[[",
                                        "{\"a\":",
                                        ":",
                                        ",",
                                        ",,",
                                        "\"",
                                        "\\",
                                        "\\u0000",
                                        "\\ud800",
                                        "\r\n",
                                        "\n",
                                        "\t",
                                        ";",
                                        "#",
                                        "=",
                                        "\xEF\xBB\xBF",
                                        "\xC3\xA9",
                                        "\xFF",
                                        "\x28\xB5\x2F\xFD",
                                        "\x1F\x8B\x08",
                                        "DBN",
                                        "2261-12-31T23:59:59.999999999Z",
                                        "1678-01-01"};

constexpr std::uint64_t kEdges[] = {0,
                                    1,
                                    0x7F,
                                    0x80,
                                    0xFF,
                                    0x7FFF,
                                    0xFFFF,
                                    0x7FFFFFFF,
                                    0x80000000,
                                    0xFFFFFFFF,
                                    0x7FFFFFFFFFFFFFFF,
                                    0x8000000000000000,
                                    0xFFFFFFFFFFFFFFFF};

std::size_t below(Rng& rng, std::size_t n) { return static_cast<std::size_t>(rng.below(n)); }

/// A piece of `text`, mostly short.
std::string_view piece_of(std::string_view text, Rng& rng) {
  if (text.empty()) return text;
  const std::size_t at = below(rng, text.size());
  const std::size_t most = rng.below(4) == 0 ? text.size() : 32;
  return text.substr(at, 1 + below(rng, most));
}

void put_edge(std::string& text, Rng& rng) {
  const std::size_t width = std::size_t{1} << rng.below(4);
  if (text.size() < width) return;
  const std::size_t at = below(rng, text.size() - width + 1);
  const std::uint64_t value = kEdges[below(rng, std::size(kEdges))];
  for (std::size_t i = 0; i < width; ++i)
    text[at + i] = static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
}

/// Another number in the place of the first one behind a random place.
void put_number(std::string& text, Rng& rng) {
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto from = text.begin() + static_cast<std::ptrdiff_t>(below(rng, text.size() + 1));
  const auto first = std::find_if(from, text.end(), digit);
  const auto last = std::find_if_not(first, text.end(), digit);
  if (first == last) return;
  const std::string number = rng.below(2) == 0
                                 ? std::to_string(kEdges[below(rng, std::size(kEdges))])
                                 : std::to_string(rng.below(100));
  text.replace(first, last, number);
}

void edit(std::string& text, const std::vector<std::string>& others, Rng& rng) {
  const std::size_t at = below(rng, text.size() + 1);
  switch (rng.below(10)) {
    case 0:
      if (at < text.size()) text[at] = static_cast<char>(text[at] ^ (1 << rng.below(8)));
      break;
    case 1:
      if (at < text.size()) text[at] = static_cast<char>(rng.below(256));
      break;
    case 2:
      text.erase(at, piece_of(text, rng).size());
      break;
    case 3:
      text.insert(at, std::string(piece_of(text, rng)));
      break;
    case 4:
      if (!others.empty()) {
        text.insert(at, std::string(piece_of(others[below(rng, others.size())], rng)));
      }
      break;
    case 5:
      text.resize(at);
      break;
    case 6:
      put_edge(text, rng);
      break;
    case 7:
      put_number(text, rng);
      break;
    case 8:
      text.insert(at, kPieces[below(rng, std::size(kPieces))]);
      break;
    default: {
      const std::string_view piece = kPieces[below(rng, std::size(kPieces))];
      text.replace(at, std::min(piece.size(), text.size() - at), piece);
    }
  }
}

}  // namespace

std::string mutate(std::string input, const std::vector<std::string>& others, std::size_t limit,
                   Rng& rng) {
  const std::uint64_t edits = 1 + rng.below(4);
  for (std::uint64_t i = 0; i < edits; ++i) edit(input, others, rng);
  if (input.size() > limit) input.resize(limit);
  return input;
}

}  // namespace foxhunt::fuzz
