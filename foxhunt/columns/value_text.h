#pragma once
// Text of a CSV cell as the bits of a field, exact: nothing goes through a double.
//
// Each parse_ function gives the rule that `text` breaks ("is no whole number"), or "" when `out`
// is set.

#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::columns {

/// Digits only, 0 to most.
std::string parse_whole(std::string_view text, std::uint64_t most, std::uint64_t& out);
/// An integer of `bits` bits (8, 16, 32, 64) as two's complement.
std::string parse_whole_signed(std::string_view text, unsigned bits, std::uint64_t& out);
/// "-0.5": up to nine decimals, as 1e-9 units in two's complement.
std::string parse_price(std::string_view text, std::uint64_t& out);
/// "2020-12-28T13:00:00.006136329Z", up to nine decimals or none, 1970 to 2554, UTC, as
/// nanoseconds.
std::string parse_iso(std::string_view text, std::uint64_t& out);

/// One letter; "0x1F" for one that is no printable one; "" for NUL.
std::string parse_letter(std::string_view text, std::uint64_t& out);
/// The text of a letter that parse_letter() reads, of at most four bytes, not quoted.
char* write_letter(char* out, unsigned char letter);

}  // namespace foxhunt::columns
