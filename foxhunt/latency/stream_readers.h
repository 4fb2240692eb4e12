#pragma once
// Loops that read a block of floats once, as fast as this CPU can, and do next to nothing with it.

#include <cstdint>
#include <span>

namespace foxhunt::latency {

/// A value made of every float, so that no load can be left out. `floats` is 64-byte aligned,
/// `count` a multiple of kReaderFloats.
using ReadFn = float (*)(const float* floats, std::int64_t count) noexcept;
inline constexpr std::int64_t kReaderFloats = 256;  ///< 1 KB: a turn of the widest loop

struct StreamReader {
  const char* name;  ///< "load_avx512", "fma_avx512", …
  bool (*runs_here)() noexcept;
  ReadFn read;
};

/// All that are built: per instruction set one that only loads, and one that multiplies and adds in
/// float32 into 8 or more accumulators: as many as cover the latency of an addition.
std::span<const StreamReader> stream_readers() noexcept;

}  // namespace foxhunt::latency
