#include "foxhunt/market/span_ring.h"

#include <cstring>
#include <new>
#include <stdexcept>
#include <utility>

namespace foxhunt::market {
namespace {

constexpr std::size_t kAlignment = 8;

}  // namespace

void SpanRing::reserve(std::size_t history, std::size_t block) {
  block_ = block;
  // In front: what a join keeps. Behind: a block at the start touches neither the history nor the
  // rest of one that ended where the next had no room.
  const std::size_t size = kMostRest + kAlignment + block + history + block + kMostRest;
  if (memory_ && size <= static_cast<std::size_t>(end_ - memory_.get())) return;
  // Of malloc, which has a large piece from the system: only pages that are touched count.
  Memory larger(static_cast<std::byte*>(std::malloc(size)));
  if (!larger) throw std::bad_alloc();
  Memory smaller = std::exchange(memory_, std::move(larger));
  if (!before_) before_ = std::move(smaller);
  end_ = memory_.get() + size;
  at_ = end_;
}

std::span<std::byte> SpanRing::room(std::size_t kept) {
  if (kept > kMostRest) throw std::invalid_argument("SpanRing: more is kept than it can keep");
  if (static_cast<std::size_t>(end_ - at_) < block_) {
    at_ = memory_.get() + kMostRest + kept % kAlignment;
  }
  return {at_, end_};
}

std::span<const std::byte> SpanRing::join(std::span<const std::byte> rest, std::size_t size) {
  std::byte* const block = at_;
  at_ += size;
  if (!rest.empty() && rest.data() + rest.size() != block) {
    std::memcpy(block - rest.size(), rest.data(), rest.size());
  }
  before_.reset();
  return {block - rest.size(), rest.size() + size};
}

}  // namespace foxhunt::market
