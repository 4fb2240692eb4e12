#include "foxhunt/base/thread_pool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cfenv>
#include <chrono>
#include <cmath>
#include <latch>
#include <numeric>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt {
namespace {

class ThreadPoolTest : public testing::TestWithParam<int> {
 protected:
  ThreadPool pool_{GetParam()};
};

TEST_P(ThreadPoolTest, DoesEachTaskOnceByAWorkerOfThePool) {
  EXPECT_EQ(pool_.size(), GetParam());
  for (const int tasks : {0, 1, 2, 3, 7, 1000}) {
    std::vector<int> done(static_cast<std::size_t>(tasks));  // not atomic: each task has its own
    std::atomic<int> strangers = 0;
    pool_.run(tasks, [&](std::int64_t task, int worker) {
      ++done[static_cast<std::size_t>(task)];
      if (worker < 0 || worker >= pool_.size()) ++strangers;
    });
    EXPECT_EQ(done, std::vector<int>(static_cast<std::size_t>(tasks), 1));
    EXPECT_EQ(strangers, 0);
  }
}

TEST_P(ThreadPoolTest, AllThreadsWorkAtTheSameTimeAndTheCallerIsWorkerZero) {
  const int threads = pool_.size();
  std::latch all(threads);  // opens only once every thread is inside a task
  std::vector<std::thread::id> who(static_cast<std::size_t>(threads));
  pool_.run(threads, [&](std::int64_t, int worker) {
    who[static_cast<std::size_t>(worker)] = std::this_thread::get_id();
    all.arrive_and_wait();
  });
  EXPECT_EQ(who[0], std::this_thread::get_id());
  EXPECT_EQ(std::set(who.begin(), who.end()).size(), who.size());
}

TEST_P(ThreadPoolTest, OneWorkersTasksNeverOverlapSoItsScratchNeedsNoLock) {
  std::vector<std::int64_t> sums(static_cast<std::size_t>(pool_.size()));
  for (int round = 0; round < 50; ++round) {
    pool_.run(100, [&](std::int64_t task, int worker) {
      sums[static_cast<std::size_t>(worker)] += task;
    });
  }
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), std::int64_t{0}), 50 * 4950);
}

TEST_P(ThreadPoolTest, ShortRunsInARowSeeEachOthersWrites) {
  // Late wakers of one run meet the next: the thread sanitizer judges this one too.
  std::vector<std::int64_t> values(8, 0);
  for (int round = 0; round < 2000; ++round) {
    pool_.run(8, [&](std::int64_t task, int) {
      const auto i = static_cast<std::size_t>(task);
      values[i] += 1 + (round % 2 == 0 ? 0 : task);
    });
    std::rotate(values.begin(), values.begin() + 1, values.end());
  }
  EXPECT_EQ(std::accumulate(values.begin(), values.end(), std::int64_t{0}), 2000 * 8 + 1000 * 28);
}

TEST_P(ThreadPoolTest, CarriesTheExceptionOfTheLowestTaskThatThrewAndLeavesTheRest) {
  // So many tasks that a run which took them all would not end within the test's time.
  constexpr std::int64_t kEndless = std::int64_t{1} << 50;
  for (int round = 0; round < 100; ++round) {
    std::atomic<int> first_five = 0;
    try {
      pool_.run(kEndless, [&](std::int64_t task, int) {
        if (task < 5) ++first_five;
        if (task == 5) std::this_thread::yield();  // lets a later task throw first
        if (task == 5 || task == 6 || task == 7) throw DataError(std::to_string(task));
      });
      FAIL() << "nothing was thrown";
    } catch (const DataError& error) {
      EXPECT_STREQ(error.what(), "5");
    }
    EXPECT_EQ(first_five, 5);
  }
  std::atomic<int> after = 0;
  pool_.run(10, [&](std::int64_t, int) { ++after; });
  EXPECT_EQ(after, 10) << "the pool is not usable after an exception";
}

TEST_P(ThreadPoolTest, TasksComputeInTheCallersFloatingPointEnvironment) {
  const int threads = pool_.size();
  const auto thirds = [&] {
    std::vector<double> third(static_cast<std::size_t>(threads));
    std::latch all(threads);
    pool_.run(threads, [&](std::int64_t, int worker) {
      volatile double three = 3.0;
      third[static_cast<std::size_t>(worker)] = 1.0 / three;
      all.arrive_and_wait();
    });
    return third;
  };
  const std::vector<double> nearest = thirds();
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);  // after the threads were started
  const std::vector<double> upward = thirds();
  std::fesetround(FE_TONEAREST);
  for (const double third : upward) EXPECT_EQ(third, std::nextafter(1.0 / 3.0, 1.0));
  EXPECT_EQ(thirds(), nearest) << "the environment of an earlier run stuck to a thread";
}

TEST_P(ThreadPoolTest, RefusesARunInsideARunInsteadOfWaitingForItself) {
  EXPECT_THROW(pool_.run(4, [&](std::int64_t, int) { pool_.run(4, [](std::int64_t, int) {}); }),
               Error);
  EXPECT_NO_THROW(pool_.run(4, [](std::int64_t, int) {}));
}

INSTANTIATE_TEST_SUITE_P(Threads, ThreadPoolTest, testing::Values(1, 2, 3, 5),
                         testing::PrintToStringParamName());

/// Both of two tasks throw, `last` some time after the other.
std::string rethrown_when_last_is(std::int64_t last) {
  ThreadPool pool(2);
  std::latch both(2);
  try {
    pool.run(2, [&](std::int64_t task, int) {
      both.arrive_and_wait();  // both have begun: neither keeps the other from it
      if (task == last) std::this_thread::sleep_for(std::chrono::milliseconds(20));
      throw DataError(std::to_string(task));
    });
  } catch (const DataError& error) {
    return error.what();
  }
  return "nothing was thrown";
}

TEST(ThreadPool, TheLowestExceptionWinsWhetherItIsThrownFirstOrLast) {
  EXPECT_EQ(rethrown_when_last_is(0), "0");
  EXPECT_EQ(rethrown_when_last_is(1), "0");
}

TEST(ThreadPool, RefusesSizesThatCannotBe) {
  EXPECT_THROW(ThreadPool(-3), ConfigError);
  try {
    ThreadPool pool(0);
    FAIL() << "a pool of 0 threads";
  } catch (const ConfigError& error) {
    EXPECT_STREQ(error.what(), "[thread_pool] threads = 0, but it must be at least 1");
  }
  ThreadPool pool(2);
  EXPECT_THROW(pool.run(-1, [](std::int64_t, int) {}), ShapeError);
  EXPECT_NO_THROW(pool.run(3, [](std::int64_t, int) {})) << "a refused run must not block the next";
}

TEST(ThreadPool, StartsAndEndsWithoutEverRunning) {
  for (int i = 0; i < 50; ++i) ThreadPool pool(4);
}

}  // namespace
}  // namespace foxhunt
