// The tree of lanes: every cut into ranks adds in the same order.
#include "foxhunt/ranks/lane_tree.h"

#include <gmock/gmock.h>

#include <bit>
#include <numeric>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"

namespace foxhunt::ranks {
namespace {

/// The definition: a node is the sum of its halves; a half behind the last lane is not there.
float sum_of_node(const std::vector<float>& lanes, std::size_t begin, std::size_t width) {
  if (width == 1) return lanes[begin];
  const std::size_t middle = begin + width / 2;
  const float left = sum_of_node(lanes, begin, width / 2);
  return middle < lanes.size() ? left + sum_of_node(lanes, middle, width / 2) : left;
}

float root_of(const std::vector<float>& lanes) {
  return sum_of_node(lanes, 0, std::bit_ceil(lanes.size()));
}

/// A node's own sum, as a rank computes it: the tree over its lanes counted from 0.
float own_sum(const std::vector<float>& lanes, LaneRange node) {
  return root_of({lanes.begin() + node.begin, lanes.begin() + node.end});
}

std::vector<float> random_lanes(std::int64_t count, std::uint64_t seed) {
  Rng rng(seed);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& value : out) value = static_cast<float>(rng.uniform() * 2e3 - 1e3);
  return out;
}

float sum_over_ranks(const std::vector<float>& lanes, int ranks, std::int64_t all_lanes) {
  const auto used = static_cast<std::int64_t>(lanes.size());
  std::vector<LaneRange> nodes;
  std::vector<float> sums;
  for (int r = 0; r < ranks; ++r) {
    LaneRange range = lanes_of(r, ranks, all_lanes);
    range = {std::min(range.begin, used), std::min(range.end, used)};
    for (const LaneRange node : nodes_of(range, used)) {
      nodes.push_back(node);
      sums.push_back(own_sum(lanes, node));
    }
  }
  for (const auto& [into, from] : additions(nodes, used)) sums[into] = sums[into] + sums[from];
  return sums[0];
}

TEST(LaneTree, EveryNumberOfRanksGivesTheBitsOfOne) {
  for (std::int64_t lanes = 1; lanes <= 17; ++lanes) {
    for (std::int64_t used = 1; used <= lanes; ++used) {  // the last batch of an epoch is smaller
      const std::vector<float> values =
          random_lanes(used, static_cast<std::uint64_t>(lanes * 31 + used));
      const float want = root_of(values);
      for (int ranks = 1; ranks <= lanes; ++ranks)
        EXPECT_EQ(sum_over_ranks(values, ranks, lanes), want)
            << used << " of " << lanes << " lanes on " << ranks << " ranks";
      const double exact = std::accumulate(values.begin(), values.end(), 0.0);
      // Four roundings (the depth of the tree, 17 lanes: five) of sums below 17e3.
      EXPECT_NEAR(want, exact, 5 * 17e3 * 6e-8);
    }
  }
}

TEST(LaneTree, EveryCutOfSevenLanesIntoRangesGivesTheSameBits) {
  const std::vector<float> values = random_lanes(7, 9);
  for (unsigned cuts = 0; cuts < 64; ++cuts) {  // a bit: a rank ends behind that lane
    std::vector<LaneRange> nodes;
    std::int64_t begin = 0;
    for (std::int64_t lane = 0; lane < 7; ++lane) {
      if (lane < 6 && ((cuts >> lane) & 1U) == 0) continue;
      for (const LaneRange node : nodes_of({begin, lane + 1}, 7)) nodes.push_back(node);
      begin = lane + 1;
    }
    std::vector<float> sums;
    for (const LaneRange node : nodes) sums.push_back(own_sum(values, node));
    for (const auto& [into, from] : additions(nodes, 7)) sums[into] = sums[into] + sums[from];
    EXPECT_EQ(sums[0], root_of(values)) << "cuts " << cuts;
  }
}

TEST(LaneTree, NodesAreTheLargestThatFit) {
  using Nodes = std::vector<LaneRange>;
  EXPECT_EQ(nodes_of({0, 8}, 8), (Nodes{{0, 8}}));
  EXPECT_EQ(nodes_of({0, 5}, 5), (Nodes{{0, 5}}));  // cut at the last lane
  EXPECT_EQ(nodes_of({2, 5}, 8), (Nodes{{2, 4}, {4, 5}}));
  EXPECT_EQ(nodes_of({5, 8}, 8), (Nodes{{5, 6}, {6, 8}}));
  EXPECT_EQ(nodes_of({4, 7}, 7), (Nodes{{4, 7}}));
  EXPECT_EQ(nodes_of({1, 7}, 8), (Nodes{{1, 2}, {2, 4}, {4, 6}, {6, 7}}));
  EXPECT_EQ(nodes_of({3, 3}, 8), (Nodes{}));
}

TEST(LaneTree, SharesDifferByOneLaneAtMostAndLeaveNoneOut) {
  for (std::int64_t lanes = 1; lanes <= 40; ++lanes) {
    for (int ranks = 1; ranks <= lanes; ++ranks) {
      std::int64_t at = 0;
      for (int r = 0; r < ranks; ++r) {
        const LaneRange range = lanes_of(r, ranks, lanes);
        EXPECT_EQ(range.begin, at);
        EXPECT_GE(range.size(), lanes / ranks);
        EXPECT_LE(range.size(), lanes / ranks + 1);
        at = range.end;
      }
      EXPECT_EQ(at, lanes);
    }
  }
}

TEST(LaneTree, MoreRanksThanLanesOrRowsAreRefusedByName) {
  EXPECT_NO_THROW(require_lane_each(5, 5, 8));
  EXPECT_NO_THROW(require_lane_each(5, 8, 5));
  const auto what = [](std::int64_t ranks, std::int64_t lanes, std::int64_t batch) {
    try {
      require_lane_each(ranks, lanes, batch);
    } catch (const ConfigError& error) {
      return std::string(error.what());
    }
    return std::string("taken");
  };
  EXPECT_THAT(what(6, 5, 8), testing::HasSubstr("6 ranks share 5 lanes"));
  EXPECT_THAT(what(6, 5, 8), testing::Not(testing::HasSubstr("batch_size")));
  EXPECT_THAT(what(6, 8, 4), testing::HasSubstr("6 ranks share 4 lanes"));
  EXPECT_THAT(what(6, 8, 4), testing::HasSubstr("train.lanes and train.batch_size"));
}

}  // namespace
}  // namespace foxhunt::ranks
