// The exchange among ranks that are threads, against the kernel's sum over all lanes.
#include "foxhunt/ranks/gradient_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/ranks/local_ranks.h"

namespace foxhunt::ranks {
namespace {

using Gradients = std::vector<std::vector<std::vector<float>>>;  // [lane][parameter]

Gradients random_gradients(std::int64_t lanes, const std::vector<std::int64_t>& sizes) {
  Rng rng(static_cast<std::uint64_t>(lanes));
  Gradients out(static_cast<std::size_t>(lanes));
  for (auto& lane : out) {
    for (const std::int64_t size : sizes) {
      lane.emplace_back(static_cast<std::size_t>(size));
      for (float& value : lane.back()) value = static_cast<float>(rng.uniform() - 0.5);
    }
  }
  return out;
}

struct Sums {
  std::vector<std::vector<float>> parameters;
  double squares = 0;
  friend bool operator==(const Sums&, const Sums&) = default;
};

Sums sum_in_one_process(const Gradients& gradients, const std::vector<std::int64_t>& sizes) {
  Sums out;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<const float*> parts;
    for (const auto& lane : gradients) parts.push_back(lane[i].data());
    out.parameters.emplace_back(static_cast<std::size_t>(sizes[i]));
    out.squares += kernels::default_kernels<float>().sum_parts(
        sizes[i], static_cast<std::int64_t>(parts.size()), parts.data(),
        out.parameters.back().data());
  }
  return out;
}

/// What every rank ends with; `steps` of them, the gradients the same each time.
std::vector<Sums> sum_over_ranks(int size, std::int64_t lanes, const Gradients& gradients,
                                 const std::vector<std::int64_t>& sizes, std::int64_t bucket_bytes,
                                 int steps = 1) {
  const auto ranks = local_ranks(size);
  std::vector<Sums> sums(static_cast<std::size_t>(size));
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::vector<std::thread> threads;
  for (int r = 0; r < size; ++r) {
    threads.emplace_back([&, r] {
      Sums& mine = sums[static_cast<std::size_t>(r)];
      for (const std::int64_t n : sizes)
        mine.parameters.emplace_back(static_cast<std::size_t>(n), NAN);
      GradientExchange exchange(
          *ranks[static_cast<std::size_t>(r)], lanes, sizes, bucket_bytes,
          [&](std::int64_t lane, std::size_t i) -> const float* {
            const LaneRange own = lanes_of(r, size, lanes);
            EXPECT_TRUE(lane >= own.begin && lane < own.end);  // of another rank: not to be had
            return gradients[static_cast<std::size_t>(lane)][i].data();
          },
          [&mine](std::size_t i) { return mine.parameters[i].data(); });
      for (int step = 0; step < steps; ++step) {
        exchange.start(static_cast<std::int64_t>(gradients.size()));
        // Ready in another order on every rank.
        for (std::size_t k = 0; k < exchange.buckets(); ++k)
          exchange.ready((k + static_cast<std::size_t>(r)) % exchange.buckets());
        mine.squares = exchange.finish(order);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return sums;
}

TEST(GradientExchange, EveryRankEndsWithTheBitsOfOneProcess) {
  const std::vector<std::int64_t> sizes{5, 4097, 1, 300, 64, 33};
  for (const std::int64_t lanes : {1, 3, 5, 8}) {
    const Gradients gradients = random_gradients(lanes, sizes);
    const Sums want = sum_in_one_process(gradients, sizes);
    for (int size = 1; size <= lanes; ++size) {
      for (const std::int64_t bucket : {1, 2000, 1'000'000}) {
        for (const Sums& sums : sum_over_ranks(size, lanes, gradients, sizes, bucket))
          EXPECT_EQ(sums, want) << lanes << " lanes, " << size << " ranks, bucket " << bucket;
      }
    }
  }
}

TEST(GradientExchange, ABatchOfFewRowsLeavesLanesAndRanksWithoutWork) {
  const std::vector<std::int64_t> sizes{100, 7};
  for (const std::int64_t used : {1, 2, 3, 5, 7}) {
    const Gradients gradients = random_gradients(used, sizes);
    const Sums want = sum_in_one_process(gradients, sizes);
    for (const int size : {2, 3, 8}) {
      for (const Sums& sums : sum_over_ranks(size, 8, gradients, sizes, 64, 3))
        EXPECT_EQ(sums, want) << used << " lanes used, " << size << " ranks";
    }
  }
}

TEST(GradientExchange, ALaneWithoutAGradientCountsAsZeros) {
  const auto ranks = local_ranks(1);
  const std::vector<float> one{1.0F, 2.0F, 3.0F};
  std::vector<float> sum(3);
  GradientExchange exchange(
      *ranks[0], 2, {3}, 1,
      [&](std::int64_t lane, std::size_t) { return lane == 0 ? one.data() : nullptr; },
      [&](std::size_t) { return sum.data(); });
  exchange.start(2);
  EXPECT_FLOAT_EQ(static_cast<float>(exchange.finish({0})), 14.0F);
  EXPECT_EQ(sum, one);
}

TEST(GradientExchange, ALostRankIsAnErrorOfTheOthersAndOfTheNextStep) {
  auto ranks = local_ranks(2);
  ranks[1].reset();
  const std::vector<float> one{1.0F};
  std::vector<float> sum(1);
  GradientExchange exchange(
      *ranks[0], 2, {1}, 1, [&](std::int64_t, std::size_t) { return one.data(); },
      [&](std::size_t) { return sum.data(); });
  for (int step = 0; step < 2; ++step) {
    exchange.start(2);
    EXPECT_THROW(exchange.finish({0}), LostRankError);
  }
}

TEST(Ranks, ATextThatDiffersIsNamedWithItsRankOnAll) {
  const auto ranks = local_ranks(3);
  std::vector<std::string> errors(3);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 3; ++r) {
    threads.emplace_back([&, r] {
      EXPECT_EQ(ranks[r]->from_first(r == 0 ? "first" : "other"), "first");
      ranks[r]->require_equal("colour", "red", "paint it");
      try {
        ranks[r]->require_equal("colour", r == 2 ? "blue" : "red", "paint it");
      } catch (const ConfigError& error) {
        errors[r] = error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(errors,
              testing::Each(testing::StrEq(
                  "[ranks] rank 2 has another colour than rank 0 (blue and red); paint it")));
}

}  // namespace
}  // namespace foxhunt::ranks
