#include "foxhunt/features/book/book_terms.h"

#include <algorithm>
#include <limits>

namespace foxhunt::features {
namespace {

using book::DepthView;
using book::Level;

__extension__ using Wide = __int128;

constexpr std::int64_t kMostSize = std::int64_t{1} << 40U;       // of a level
constexpr std::int64_t kMostHalfTicks = std::int64_t{1} << 20U;  // of one move of the mid

/// An empty bid is worse than any price, an empty ask as well.
std::int64_t bid_price(const Level& level) {
  return level.is_empty() ? std::numeric_limits<std::int64_t>::min() : level.price.nano;
}
std::int64_t ask_price(const Level& level) { return level.price.nano; }  // null is the largest

std::int64_t bid_flow(const Level& before, const Level& after) {
  return (bid_price(after) >= bid_price(before) ? after.size : 0) -
         (bid_price(after) <= bid_price(before) ? before.size : 0);
}
std::int64_t ask_flow(const Level& before, const Level& after) {
  return (ask_price(after) <= ask_price(before) ? after.size : 0) -
         (ask_price(after) >= ask_price(before) ? before.size : 0);
}
/// `improved`: the best price got better; what the old queue lost is then not seen.
std::int64_t lost(const Level& before, const Level& after, bool improved) {
  if (improved) return 0;
  return before.price == after.price ? std::max<std::int64_t>(0, before.size - after.size)
                                     : before.size;
}

}  // namespace

bool is_in_range(const DepthView& view, std::size_t levels) noexcept {
  const auto fits = [](const Level& level) { return level.size >= 0 && level.size <= kMostSize; };
  return std::ranges::all_of(std::span(view.bids).first(levels), fits) &&
         std::ranges::all_of(std::span(view.asks).first(levels), fits);
}

bool make_terms(const DepthView& before, const DepthView& after, const EventTally& tally,
                std::int64_t elapsed, std::int64_t tick, std::span<const std::int64_t> level_counts,
                std::span<std::int64_t> terms) noexcept {
  const TermLayout at{level_counts.size()};
  std::int64_t flow = 0;
  std::int64_t depth = 0;
  std::size_t m = 0;
  for (std::size_t i = 0; i < level_counts.size(); ++i) {
    for (; m < static_cast<std::size_t>(level_counts[i]); ++m) {
      flow += bid_flow(before.bids[m], after.bids[m]) - ask_flow(before.asks[m], after.asks[m]);
      depth += after.bids[m].size + after.asks[m].size;
    }
    terms[at.flow(i)] = flow;
    terms[at.depth(i)] = depth;
  }
  terms[at.lost_bid()] =
      lost(before.bids[0], after.bids[0], after.bids[0].price > before.bids[0].price);
  terms[at.lost_ask()] =
      lost(before.asks[0], after.asks[0], after.asks[0].price < before.asks[0].price);
  terms[at.signed_volume()] = tally.bought - tally.sold;
  terms[at.volume()] = tally.bought + tally.sold + tally.unsided;
  terms[at.adds()] = tally.adds;
  terms[at.cancels()] = tally.fills > 0 ? 0 : tally.cancels;
  terms[at.elapsed()] = elapsed;
  const Wide wide = Wide{after.bids[0].price.nano} + after.asks[0].price.nano -
                    before.bids[0].price.nano - before.asks[0].price.nano;
  const auto twice_mid = static_cast<std::int64_t>(wide);
  if (twice_mid != wide || twice_mid % tick != 0) return false;
  const std::int64_t half_ticks = twice_mid / tick;
  if (half_ticks > kMostHalfTicks || half_ticks < -kMostHalfTicks) return false;
  terms[at.squared_move()] = half_ticks * half_ticks;
  return std::ranges::all_of(terms,
                             [](std::int64_t t) { return t <= kMostTerm && t >= -kMostTerm; });
}

}  // namespace foxhunt::features
