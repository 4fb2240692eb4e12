#include "foxhunt/ranks/lane_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "foxhunt/base/error.h"

namespace foxhunt::ranks {
namespace {

using Additions = std::vector<std::pair<std::size_t, std::size_t>>;

/// Walks down to the given nodes; the answer is where the sum of the node at `begin` will lie.
std::size_t complete(std::int64_t begin, std::int64_t width, std::int64_t lanes,
                     const std::vector<LaneRange>& nodes, std::size_t& next, Additions& out) {
  const LaneRange here{begin, std::min(begin + width, lanes)};
  if (nodes.at(next) == here) return next++;
  const std::size_t left = complete(begin, width / 2, lanes, nodes, next, out);
  const std::int64_t middle = begin + width / 2;
  if (middle < lanes) {
    out.emplace_back(left, complete(middle, width / 2, lanes, nodes, next, out));
  }
  return left;
}

}  // namespace

LaneRange lanes_of(int rank, int ranks, std::int64_t lanes) {
  return {lanes * rank / ranks, lanes * (rank + 1) / ranks};
}

void require_lane_each(std::int64_t ranks, std::int64_t lanes, std::int64_t batch) {
  if (ranks <= std::min(lanes, batch)) return;
  throw ConfigError(fmt::format(
      "[ranks] {} ranks share {} lanes: a rank needs one at least; raise train.lanes{} or start "
      "fewer",
      ranks, std::min(lanes, batch), batch < ranks ? " and train.batch_size" : ""));
}

std::vector<LaneRange> nodes_of(LaneRange range, std::int64_t lanes) {
  std::vector<LaneRange> nodes;
  std::int64_t begin = range.begin;
  while (begin < range.end) {
    std::int64_t end = begin + 1;
    for (std::int64_t width = 2; begin % width == 0 && end < range.end; width *= 2) {
      if (std::min(begin + width, lanes) > range.end) break;
      end = std::min(begin + width, lanes);
    }
    nodes.push_back({begin, end});
    begin = end;
  }
  return nodes;
}

Additions additions(const std::vector<LaneRange>& nodes, std::int64_t lanes) {
  Additions out;
  std::size_t next = 0;
  const auto width = std::bit_ceil(static_cast<std::uint64_t>(std::max<std::int64_t>(lanes, 1)));
  complete(0, static_cast<std::int64_t>(width), lanes, nodes, next, out);
  return out;
}

}  // namespace foxhunt::ranks
