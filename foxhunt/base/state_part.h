#pragma once
// A part of a state file: name, version, payload, and a SHA-256 over all of it. Whoever keeps a
// state writes one part; parts follow one another, or lie in each other's payload.
//
// The sum finds what a disk or a cut-off copy did. It does not make a payload right: a reader
// checks every value that it takes from one.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "foxhunt/base/bytes.h"

namespace foxhunt {

void write_part(ByteWriter& to, std::string_view name, std::uint32_t version,
                std::span<const std::byte> payload);

/// Reads over the part that comes next in `from` and gives its payload, which lies in the bytes of
/// `from`; its messages name the origin of `from` and the part.
/// Errors  FormatError: another part, cut short, damaged, or a version that is not `version`; both
/// are named.
ByteReader read_part(ByteReader& from, std::string_view name, std::uint32_t version);

}  // namespace foxhunt
