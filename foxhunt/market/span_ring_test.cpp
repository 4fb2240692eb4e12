#include "foxhunt/market/span_ring.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <deque>
#include <stdexcept>
#include <vector>

#include "foxhunt/base/rng.h"

namespace foxhunt::market {
namespace {

/// The `i`-th byte of the stream that every test puts into its ring.
std::byte byte_at(std::uint64_t i) {
  return static_cast<std::byte>((i * 0x9E3779B97F4A7C15U) >> 56U);
}

/// Puts blocks of random sizes and takes random parts; holds what lies there against byte_at().
class Model {
 public:
  explicit Model(std::uint64_t seed) : rng_(seed) {}

  void reserve(std::size_t history, std::size_t block) {
    history_ = history;
    block_ = block;
    ring_.reserve(history, block);
    past_.clear();  // another frame looks back at nothing
  }

  void step(std::size_t most_kept) {
    const std::size_t kept = rng_.below(std::min(front_.size(), most_kept) + 1);
    const auto rest = front_.last(kept);
    const std::size_t size = rng_.below(4) == 0 ? block_ : 1 + rng_.below(block_);
    const auto room = ring_.room(kept);
    ASSERT_GE(room.size(), block_);
    // A decoder may use all of the block's room for its own ends.
    std::memset(room.data(), 0xEE, block_);
    for (std::size_t i = 0; i < size; ++i) room[i] = byte_at(end_ + i);
    check(rest, end_ - kept);
    check_history();
    const bool moved = kept != 0 && rest.data() + kept != room.data();
    front_ = ring_.join(rest, size);
    past_.push_back({front_.last(size), end_});
    end_ += size;
    ASSERT_EQ(front_.size(), kept + size);
    check(front_, end_ - front_.size());
    if (moved) {
      ++moves;
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(front_.data()) % 8, 0U);
    }
  }

  int moves = 0;

 private:
  struct Block {
    std::span<const std::byte> bytes;
    std::uint64_t at;
  };

  static void check(std::span<const std::byte> bytes, std::uint64_t at) {
    for (std::size_t i = 0; i < bytes.size(); ++i) ASSERT_EQ(bytes[i], byte_at(at + i)) << at + i;
  }
  /// What a decoder may copy from: the last `history_` bytes.
  void check_history() {
    std::size_t behind = 0;
    std::size_t blocks = 0;
    for (auto block = past_.rbegin(); block != past_.rend() && behind < history_; ++block) {
      const std::size_t n = std::min(history_ - behind, block->bytes.size());
      check(block->bytes.last(n), block->at + block->bytes.size() - n);
      behind += n;
      ++blocks;
    }
    while (past_.size() > blocks) past_.pop_front();
  }

  Rng rng_;
  SpanRing ring_;
  std::span<const std::byte> front_;
  std::deque<Block> past_;
  std::uint64_t end_ = 0;
  std::size_t history_ = 0;
  std::size_t block_ = 0;
};

TEST(SpanRingTest, HistoryAndRestStayWhileBlocksOfAnySizeFollow) {
  for (const std::size_t history : {0U, 1U, 1000U, 5000U}) {
    Model model(1 + history);
    model.reserve(history, 700);
    for (int i = 0; i < 3000 && !testing::Test::HasFatalFailure(); ++i) model.step(900);
    EXPECT_GT(model.moves, 2) << "the ring began again";
  }
}

TEST(SpanRingTest, AsMuchAsItCanKeepIsKept) {
  Model model(2);
  model.reserve(100, 50'000);
  for (int i = 0; i < 60 && !testing::Test::HasFatalFailure(); ++i) {
    model.step(SpanRing::kMostRest);
  }
  EXPECT_GT(model.moves, 2);
}

TEST(SpanRingTest, GrowingKeepsTheRest) {
  Model model(3);
  for (std::size_t history = 10; history < 2'000'000; history *= 5) {
    model.reserve(history, 1000);
    model.reserve(2 * history, 2000);  // as of a frame without content
    for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) model.step(900);
  }
  model.reserve(10, 1000);
  for (int i = 0; i < 20 && !testing::Test::HasFatalFailure(); ++i) model.step(900);
}

TEST(SpanRingTest, MoreThanItCanKeepIsRefused) {
  SpanRing ring;
  ring.reserve(0, 10);
  EXPECT_NO_THROW(ring.room(SpanRing::kMostRest));
  EXPECT_THROW(ring.room(SpanRing::kMostRest + 1), std::invalid_argument);
}

}  // namespace
}  // namespace foxhunt::market
