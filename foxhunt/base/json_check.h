#pragma once
// Whether outside bytes are JSON that may be parsed into a tree, and whole numbers out of that
// tree.
//
// A parser that builds a tree keeps the last of two equal keys without a word, and a tree a million
// brackets deep is built without recursion but copied, compared and printed with it. So every text
// from outside goes through here first; whoever parses afterwards needs no case for either.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace foxhunt {

inline constexpr int kMaxJsonDepth = 64;  ///< arrays and objects inside each other

/// "" for JSON (RFC 8259, UTF-8) of at most kMaxJsonDepth levels in which no object has a key
/// twice; else what is wrong, as the end of a sentence: "is not JSON: …", "has the key 'a' twice".
/// Cost    one pass; memory for the keys of the objects that are open.
/// Source  nlohmann-json's event parser.
std::string json_problem(std::string_view text);

/// A value of a parsed tree that is a whole number of 64 bits; nullopt for any other. nlohmann's
/// own conversion cuts 1.9 to 1, wraps 2^64 - 1 to -1 and has no defined answer for 1e300.
template <class Json>
std::optional<std::int64_t> whole_number(const Json& json) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!json.is_number_integer()) return std::nullopt;
  if (json.is_number_unsigned() && json.template get<std::uint64_t>() > kMax) return std::nullopt;
  return json.template get<std::int64_t>();
}

}  // namespace foxhunt
