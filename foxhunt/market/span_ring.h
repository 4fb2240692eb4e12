#pragma once
// Memory in which a source puts block behind block and whoever reads looks at them where they lie.

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>

namespace foxhunt::market {

/// Blocks are put one behind another and, where the end is near, at the start again. What a reader
/// has not taken yet goes with the next block, so that a record over two blocks is one piece.
/// Memory    what reserve() asked for and 128 KiB; pages that no block reached cost nothing.
class SpanRing {
 public:
  static constexpr std::size_t kMostRest = std::size_t{64} << 10;  ///< that join() can keep

  /// Makes room for blocks of up to `block` bytes while the `history` bytes in front of a block
  /// stay where they are. Never smaller than before. Errors  std::bad_alloc.
  void reserve(std::size_t history, std::size_t block);

  /// Where the next block goes: `block` bytes or more. What was handed out last stays as it is.
  /// `kept`  bytes of it that join() will put in front of the block.
  std::span<std::byte> room(std::size_t kept);

  /// `rest`, the last bytes of the span before (or none), and behind it the `size` bytes that now
  /// lie in room(rest.size()). Copies `rest` only where the ring begins again, and then to a
  /// multiple of eight bytes. Lifetime  until the next join().
  std::span<const std::byte> join(std::span<const std::byte> rest, std::size_t size);

 private:
  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  using Memory = std::unique_ptr<std::byte[], Free>;

  Memory memory_;
  Memory before_;  ///< outgrown, but perhaps still looked at
  std::byte* at_ = nullptr;
  std::byte* end_ = nullptr;
  std::size_t block_ = 0;
};

}  // namespace foxhunt::market
