#include <gtest/gtest.h>

#ifdef FOXHUNT_COUNTS_LOCKS

#include <mutex>
#include <shared_mutex>
#include <thread>

#include "foxhunt/latency/count_locks.h"

namespace foxhunt::latency {
namespace {

TEST(CountLocks, CountsMutexesAndReadWriteLocksThatNobodyElseHolds) {
  std::mutex mutex;
  std::shared_mutex shared;
  std::recursive_mutex again;
  const std::int64_t before = thread_locks();
  { const std::lock_guard lock(mutex); }
  EXPECT_EQ(thread_locks() - before, 1);
  { const std::unique_lock lock(shared); }
  { const std::shared_lock lock(shared); }
  EXPECT_EQ(thread_locks() - before, 3);
  {
    const std::lock_guard outer(again);
    const std::lock_guard inner(again);
  }
  EXPECT_EQ(thread_locks() - before, 5);
}

TEST(CountLocks, ATryThatFailsCountsAndStillFails) {
  std::mutex mutex;
  const std::lock_guard held(mutex);
  std::thread([&mutex] {
    const std::int64_t before = thread_locks();
    EXPECT_FALSE(mutex.try_lock());
    EXPECT_EQ(thread_locks() - before, 1);
  }).join();
}

TEST(CountLocks, ALockStillKeepsOthersOut) {
  std::mutex mutex;
  std::int64_t sum = 0;
  const auto add = [&] {
    for (int i = 0; i < 20000; ++i) {
      const std::lock_guard lock(mutex);
      sum = sum + 1;
    }
  };
  std::thread other(add);
  add();
  other.join();
  EXPECT_EQ(sum, 40000);
}

TEST(CountLocks, WorkWithoutALockCountsNone) {
  const std::int64_t before = thread_locks();
  volatile double x = 2.0;
  for (int i = 0; i < 100; ++i) x = x * 1.01;
  EXPECT_EQ(thread_locks() - before, 0);
}

}  // namespace
}  // namespace foxhunt::latency

#else

TEST(CountLocks, CountsMutexesAndReadWriteLocksThatNobodyElseHolds) {
  GTEST_SKIP() << "sanitizers stand before the C library's locks themselves";
}

#endif
