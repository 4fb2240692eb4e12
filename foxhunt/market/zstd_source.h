#pragma once
// zstd frames as a source: blocks are decoded where they are then read.

#include <memory>
#include <span>
#include <string>

#include "foxhunt/market/byte_chunk.h"
#include "foxhunt/market/byte_source.h"

namespace foxhunt::market {

/// Whether these bytes begin with the magic of a zstd frame, skippable ones among them.
bool starts_like_zstd(std::span<const std::byte> front);

/// more() gives one block a call, in place. Errors, memory  as open_bytes().
std::unique_ptr<ByteSource> unzstd(ByteChunk chunk, std::string name);

}  // namespace foxhunt::market
