#pragma once
// The order in which gradients of lanes are added: one binary tree over lane numbers, whoever works
// the lanes.
//
// A node is the lanes [j 2^k, (j + 1) 2^k), cut at the number of lanes; its sum is the sum of its
// halves. A rank works neighbouring lanes, which make up a few whole nodes: it adds each up by
// itself, and every rank completes the same tree. So any number of ranks gives the same bits.

#include <cstdint>
#include <utility>
#include <vector>

namespace foxhunt::ranks {

/// Lanes [begin, end).
struct LaneRange {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  friend bool operator==(const LaneRange&, const LaneRange&) = default;
};

/// What rank `rank` of `ranks` works of `lanes`: shares differ by at most one lane.
LaneRange lanes_of(int rank, int ranks, std::int64_t lanes);

/// Errors  ConfigError: more ranks than `lanes`, or than rows of a batch; a rank needs one at
/// least.
void require_lane_each(std::int64_t ranks, std::int64_t lanes, std::int64_t batch);

/// The fewest nodes that make up `range` in the tree over `lanes`, in order.
std::vector<LaneRange> nodes_of(LaneRange range, std::int64_t lanes);

/// `nodes` make up all `lanes`. Additions (into, from) of their indices, in the order to be done:
/// afterwards node 0 holds the root's sum.
std::vector<std::pair<std::size_t, std::size_t>> additions(const std::vector<LaneRange>& nodes,
                                                           std::int64_t lanes);

}  // namespace foxhunt::ranks
