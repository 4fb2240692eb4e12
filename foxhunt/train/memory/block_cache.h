#pragma once
// Where the tensors of a training run on the CPU get their memory: counted, used again, and never
// more than a limit.
//
// A large block is mapped by itself. Freed ones are kept for the next step, which asks for the same
// sizes again, but no more of them than make what is held a little larger than what was in use at
// the fullest moment. So the memory that the system sees follows from what the model needs, not
// from the order in which threads asked. Small blocks come from the C library.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace foxhunt::train {

class BlockCache {
 public:
  /// Blocks below this many bytes come from the C library.
  static constexpr std::size_t kLarge = 128 << 10;
  /// What is held may exceed the peak of what is in use by this part of it, or by kSlack bytes.
  static constexpr std::int64_t kSlackShare = 16;
  static constexpr std::int64_t kSlack = 8 << 20;

  struct Use {
    std::int64_t in_use = 0;  ///< bytes asked for and not given back
    std::int64_t in_use_peak = 0;
    std::int64_t held = 0;  ///< in use, and freed blocks that are kept
    std::int64_t held_peak = 0;
  };

  BlockCache() = default;
  ~BlockCache();
  BlockCache(const BlockCache&) = delete;
  BlockCache& operator=(const BlockCache&) = delete;

  /// `bytes` of memory on a 64-byte boundary, uninitialised; from any thread.
  /// Errors  MemoryError where it would pass the limit or the system has no more.
  void* take(std::size_t bytes);
  /// Gives back what take() gave; null is nothing. From any thread.
  void give(void* memory) noexcept;

  /// At most this many bytes are held from now on; 0: no limit.
  void set_limit(std::int64_t bytes) { limit_.store(bytes, std::memory_order_relaxed); }
  std::int64_t limit() const { return limit_.load(std::memory_order_relaxed); }
  /// Gives every freed block back to the system: before something else needs the memory.
  void release();

  Use use() const;
  /// Peaks begin anew from what is in use and held now.
  void reset_peaks();

 private:
  struct Free {
    void* base;
    std::uint64_t stamp;  ///< larger: given back later
  };

  void* take_large(std::size_t bytes, std::size_t mapped);
  void count(std::int64_t bytes) noexcept;
  void hold(std::int64_t bytes) noexcept;
  void release_oldest() noexcept;
  [[noreturn]] void refuse(std::size_t bytes, const char* why) const;

  std::atomic<std::int64_t> in_use_ = 0, in_use_peak_ = 0, held_ = 0, held_peak_ = 0, limit_ = 0;
  std::mutex mutex_;  ///< guards what follows
  std::multimap<std::size_t, Free> free_;
  std::uint64_t stamp_ = 0;
};

}  // namespace foxhunt::train
