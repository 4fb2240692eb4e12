#include "foxhunt/proofs/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "foxhunt/base/error.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;

/// Shorter ones are minutes without a trade.
constexpr std::chrono::minutes kBreak{30};

std::size_t place_of(std::span<const Bar> bars, UnixNanos end) {
  const auto found =
      std::ranges::lower_bound(bars, end, {}, [](const Bar& bar) { return bar.end(); });
  return static_cast<std::size_t>(found - bars.begin());
}

}  // namespace

std::vector<std::size_t> choose_points(std::span<const Bar> bars, const Entries& entries,
                                       std::int64_t count, Rng& rng) {
  if (bars.size() < 2 || entries.size() == 0) {
    throw DataError(fmt::format("[proofs] {} bars with {} rows: there is nothing to prove",
                                bars.size(), entries.size()));
  }
  const std::size_t first = place_of(bars, entries.decided_at.front());
  std::vector<std::size_t> ends;
  std::vector<std::size_t> starts;
  std::vector<std::size_t> holes;
  std::vector<std::size_t> edges{first};
  for (std::size_t i = first + 1; i < bars.size(); ++i) {
    const auto closed = bars[i].start - bars[i - 1].end();
    if (closed >= kBreak || bars[i].instrument != bars[i - 1].instrument) {
      ends.push_back(i - 1);
      starts.push_back(i);
    } else if (closed.count() != 0) {
      holes.push_back(i - 1);
    }
  }
  for (std::size_t e = 1; e < entries.size(); ++e) {
    const std::size_t at = place_of(bars, entries.decided_at[e]);
    if (place_of(bars, entries.decided_at[e - 1]) + 1 == at) continue;
    edges.insert(edges.end(), {at - 1, at});
  }
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(count, 1));
  std::set<std::size_t> points;
  const auto take = [&](std::vector<std::size_t>& places) {
    rng.shuffle(places);
    for (std::size_t i = 0, left = (wanted + 4) / 5; i < places.size() && left > 0; ++i) {
      if (places[i] + 1 < bars.size() && points.size() < wanted && points.insert(places[i]).second)
        --left;
    }
  };
  take(ends);
  take(starts);
  take(holes);
  take(edges);
  const std::size_t span = bars.size() - 1 - std::min(first, bars.size() - 2);
  const std::size_t most = std::min(wanted, span);
  while (points.size() < most) points.insert(bars.size() - 1 - span + rng.below(span));
  return {points.begin(), points.end()};
}

}  // namespace foxhunt::proofs
