#pragma once
// LibTorch's tensors on the CPU, from a BlockCache. Torch-free.

#include "foxhunt/train/memory/block_cache.h"

namespace foxhunt::train {

/// From now on every tensor on the CPU gets its memory from the one BlockCache of this process,
/// which never goes away. Tensors that exist already keep theirs. Calling it again changes nothing.
BlockCache& use_counted_memory();

/// That cache, or null before use_counted_memory().
BlockCache* counted_memory();

/// Gives freed memory of tensors and of the C library back to the system: between phases of a run
/// whose large blocks differ.
void release_freed_memory();

}  // namespace foxhunt::train
