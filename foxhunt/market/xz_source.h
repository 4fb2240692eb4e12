#pragma once
// xz, passed through where it is none.

#include <memory>

#include "foxhunt/market/byte_source.h"

namespace foxhunt::market {

/// `source` itself, or, where its bytes begin as xz's do, what they unpack to (all streams, one
/// after the other). truncated() also says that the input ended inside a stream; frames() counts
/// the streams that ended. Memory: a buffer of 64 KiB and xz's dictionary; a stream that asks for
/// more than 128 MiB is refused.
/// Errors  FormatError with file and compressed offset: corrupt stream, bytes behind one that are
/// no stream, a dictionary too large. Source  liblzma.
std::unique_ptr<ByteSource> unxz(std::unique_ptr<ByteSource> source);

}  // namespace foxhunt::market
