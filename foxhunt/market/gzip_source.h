#pragma once
// gzip, passed through where it is none.

#include <memory>

#include "foxhunt/market/byte_source.h"

namespace foxhunt::market {

/// `source` itself, or, where its bytes begin as gzip's do, what they unpack to (all members, one
/// after the other, as in files that were appended to). truncated() also says that the input ended
/// inside a member; frames() counts members. Errors  FormatError with file and compressed offset:
/// corrupt member, bytes behind one that are no member.
std::unique_ptr<ByteSource> gunzip(std::unique_ptr<ByteSource> source);

}  // namespace foxhunt::market
