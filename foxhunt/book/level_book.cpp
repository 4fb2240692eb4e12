#include "foxhunt/book/level_book.h"

namespace foxhunt::book {

using market::Side;

void LevelBook::apply(const LevelUpdate& update) {
  if (update.side == Side::kNone || update.price.is_null() || update.size < 0) {
    ++counters_.bad_value;
    return;
  }
  Ladder& prices = update.side == Side::kBid ? bids_ : asks_;
  const std::size_t at = prices.locate(update.price);
  if (prices.holds(at, update.price)) {
    if (update.size == 0) {
      prices.erase(at);
    } else {
      prices.value_at(at) = update.size;
    }
  } else if (update.size > 0) {
    prices.insert(at, update.price, update.size);
  }
}

void LevelBook::finish(std::uint64_t last_id, UnixNanos ts_event, UnixNanos ts_recv) {
  last_id_ = last_id;
  ts_event_ = ts_event;
  ts_recv_ = ts_recv;
  if (bids_.empty() || asks_.empty()) return;
  counters_.crossed += static_cast<std::int64_t>(bids_.price(0) > asks_.price(0));
  counters_.locked += static_cast<std::int64_t>(bids_.price(0) == asks_.price(0));
}

void LevelBook::snapshot(std::span<const LevelUpdate> levels, std::uint64_t last_id,
                         UnixNanos ts_event, UnixNanos ts_recv) {
  ++counters_.snapshots;
  bids_.clear();
  asks_.clear();
  for (const LevelUpdate& level : levels) apply(level);
  ready_ = after_snapshot_ = true;
  finish(last_id, ts_event, ts_recv);
}

bool LevelBook::diff(std::span<const LevelUpdate> updates, std::uint64_t first_id,
                     std::uint64_t last_id, std::uint64_t previous_id, UnixNanos ts_event,
                     UnixNanos ts_recv) {
  ++counters_.diffs;
  if (!ready_) {
    ++counters_.early;
    return false;
  }
  if (after_snapshot_ && last_id <= last_id_) {
    ++counters_.stale;
    return false;
  }
  const bool reaches_over = after_snapshot_ && first_id <= last_id_ + 1;
  if (previous_id != last_id_ && !reaches_over) {
    ++counters_.gaps;
    ready_ = false;
    return false;
  }
  after_snapshot_ = false;
  ++counters_.applied;
  counters_.updates += static_cast<std::int64_t>(updates.size());
  for (const LevelUpdate& update : updates) apply(update);
  finish(last_id, ts_event, ts_recv);
  return true;
}

Level LevelBook::level(Side side, std::size_t rank) const noexcept {
  const Ladder& prices = ladder(side);
  if (rank >= prices.size()) return {};
  return {.price = prices.price(rank), .size = prices.value(rank)};
}

bool LevelBook::view(DepthView& out) const noexcept {
  if (!ready_) return false;
  out = {.instrument = instrument_, .ts_event = ts_event_, .ts_recv = ts_recv_};
  for (std::size_t rank = 0; rank < DepthView::kLevels; ++rank) {
    out.bids[rank] = level(Side::kBid, rank);
    out.asks[rank] = level(Side::kAsk, rank);
  }
  return true;
}

}  // namespace foxhunt::book
