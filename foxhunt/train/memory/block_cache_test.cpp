// The cache against a plain count of what was asked for, and its two promises: no more is held than
// a little over the fullest moment, and never more than the limit.
#include "foxhunt/train/memory/block_cache.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

/// Blocks of one owner, filled so that two that overlap are noticed.
struct Blocks {
  explicit Blocks(BlockCache& the_cache) : cache(the_cache) {}
  ~Blocks() {
    while (!all.empty()) drop(0);
  }
  void add(std::size_t bytes, unsigned char mark) {
    auto* memory = static_cast<unsigned char*>(cache.take(bytes));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % 64, 0U);
    std::memset(memory, mark, bytes);
    all.push_back({memory, bytes, mark});
    total += static_cast<std::int64_t>(bytes);
  }
  void drop(std::size_t i) {
    const Block block = all[i];
    EXPECT_EQ(block.memory[0], block.mark);
    EXPECT_EQ(block.memory[block.bytes - 1], block.mark);
    cache.give(block.memory);
    total -= static_cast<std::int64_t>(block.bytes);
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }

  struct Block {
    unsigned char* memory;
    std::size_t bytes;
    unsigned char mark;
  };
  BlockCache& cache;
  std::vector<Block> all;
  std::int64_t total = 0;
};

std::int64_t most_held(std::int64_t peak) {
  return peak + std::max(peak / BlockCache::kSlackShare, BlockCache::kSlack);
}

TEST(BlockCache, CountsWhatWasAskedForAndHoldsLittleMore) {
  BlockCache cache;
  Blocks blocks(cache);
  Rng rng(7);
  std::int64_t peak = 0;
  for (int i = 0; i < 3000; ++i) {
    if (blocks.all.empty() || rng.uniform(0.0, 1.0) < 0.52) {
      const double size =
          rng.uniform(0.0, 1.0) < 0.5 ? rng.uniform(1.0, 1e5) : rng.uniform(1e5, 3e6);
      blocks.add(static_cast<std::size_t>(size), static_cast<unsigned char>(i));
    } else {
      blocks.drop(static_cast<std::size_t>(
          rng.uniform(0.0, static_cast<double>(blocks.all.size()) - 0.001)));
    }
    peak = std::max(peak, blocks.total);
    const BlockCache::Use use = cache.use();
    ASSERT_EQ(use.in_use, blocks.total);
    ASSERT_EQ(use.in_use_peak, peak);
    // A block may be an eighth larger than asked for, and has a header and a page of rounding.
    const auto rounding = peak / 8 + 4300 * static_cast<std::int64_t>(blocks.all.size() + 1);
    ASSERT_LE(use.held, most_held(peak) + rounding);
    ASSERT_GE(use.held, use.in_use);
  }
}

TEST(BlockCache, GivesTheSameBlocksAgainToTheSameWork) {
  BlockCache cache;
  const auto step = [&cache] {
    Blocks blocks(cache);
    for (const std::int64_t bytes : {3 * kMiB, 5 * kMiB, 2 * kMiB})
      blocks.add(static_cast<std::size_t>(bytes), 1);
  };
  step();
  const BlockCache::Use first = cache.use();
  for (int i = 0; i < 10; ++i) step();
  EXPECT_EQ(cache.use().held_peak, first.held_peak);
  EXPECT_EQ(cache.use().held, first.held);
  EXPECT_EQ(cache.use().in_use, 0);
  EXPECT_GE(first.held, 10 * kMiB);
}

TEST(BlockCache, GivesFreedBlocksBackToTheSystem) {
  BlockCache cache;
  const std::int64_t before = resident_set().now;
  {
    Blocks blocks(cache);
    for (int i = 0; i < 64; ++i) blocks.add(static_cast<std::size_t>(kMiB), 1);
  }
  EXPECT_EQ(cache.use().in_use, 0);
  EXPECT_GE(cache.use().held, 64 * kMiB);
  EXPECT_GE(resident_set().now - before, 48 * kMiB);  // other tests' threads may give some back
  cache.release();
  EXPECT_EQ(cache.use().held, 0);
  EXPECT_LE(resident_set().now - before, 16 * kMiB);
}

TEST(BlockCache, RefusesWhatWouldPassTheLimitAndStaysUsable) {
  BlockCache cache;
  cache.set_limit(32 * kMiB);
  Blocks blocks(cache);
  for (int i = 0; i < 3; ++i) blocks.add(static_cast<std::size_t>(8 * kMiB), 1);
  try {
    blocks.add(static_cast<std::size_t>(9 * kMiB), 2);
    FAIL() << "33 MiB were given";
  } catch (const MemoryError& error) {
    EXPECT_EQ(error.code(), ExitCode::kMemory);
    EXPECT_NE(std::string(error.what()).find("9 MiB"), std::string::npos) << error.what();
  }
  EXPECT_EQ(cache.use().in_use, 24 * kMiB);
  // Small ones count, too.
  EXPECT_THROW(
      {
        for (int i = 0; i < 200; ++i) blocks.add(64 << 10, 3);
      },
      MemoryError);
  EXPECT_LE(cache.use().held_peak, 32 * kMiB);
  // What is freed makes room, also for another size: kept blocks go before anything is refused.
  blocks.drop(0);
  blocks.drop(0);
  blocks.add(static_cast<std::size_t>(12 * kMiB), 4);
  EXPECT_LE(cache.use().held_peak, 32 * kMiB);
  cache.set_limit(0);
  blocks.add(static_cast<std::size_t>(40 * kMiB), 5);
}

TEST(BlockCache, ServesManyThreads) {
  BlockCache cache;
  std::vector<std::thread> threads;
  for (unsigned char t = 0; t < 4; ++t) {
    threads.emplace_back([&cache, t] {
      Blocks blocks(cache);
      Rng rng(t);
      for (int i = 0; i < 400; ++i) {
        blocks.add(static_cast<std::size_t>(rng.uniform(1.0, 4e5)), t);
        if (blocks.all.size() > 8) blocks.drop(static_cast<std::size_t>(i) % 8);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.use().in_use, 0);
  EXPECT_GT(cache.use().in_use_peak, 0);
  cache.release();
  EXPECT_EQ(cache.use().held, 0);
}

TEST(BlockCache, NothingIsAFineSize) {
  BlockCache cache;
  void* memory = cache.take(0);
  EXPECT_NE(memory, nullptr);
  cache.give(memory);
  cache.give(nullptr);
  EXPECT_EQ(cache.use().held, 0);
}

}  // namespace
}  // namespace foxhunt::train
