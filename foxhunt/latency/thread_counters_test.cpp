#include "foxhunt/latency/thread_counters.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace foxhunt::latency {
namespace {

TEST(ThreadCounters, CountThePagesThatAreTouchedForTheFirstTime) {
  constexpr std::size_t kPages = 64;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* block =
      ::mmap(nullptr, kPages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  ::madvise(block, kPages * page, MADV_NOHUGEPAGE);
  auto* bytes = static_cast<volatile char*>(block);
  const ThreadCounters before = read_thread_counters();
  for (std::size_t i = 0; i < kPages; ++i) bytes[i * page] = 1;
  const ThreadCounters first = read_thread_counters() - before;
  const ThreadCounters middle = read_thread_counters();
  for (std::size_t i = 0; i < kPages; ++i) bytes[i * page] = 2;
  const ThreadCounters second = read_thread_counters() - middle;
  ::munmap(block, kPages * page);
  if (first.minor_faults == 0) GTEST_SKIP() << "this kernel does not count page faults";
  EXPECT_GE(first.minor_faults, static_cast<std::int64_t>(kPages));
  EXPECT_EQ(second.minor_faults, 0);
  EXPECT_EQ(second.major_faults, 0);
}

TEST(ThreadCounters, SleepingIsAVoluntarySwitch) {
  const ThreadCounters before = read_thread_counters();
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const ThreadCounters slept = read_thread_counters() - before;
  if (slept.voluntary_switches == 0) GTEST_SKIP() << "this kernel does not count switches";
  EXPECT_GE(slept.voluntary_switches, 1);
}

TEST(ThreadCounters, AreThoseOfTheCallingThreadAlone) {
  std::thread([] {
    const ThreadCounters begun = read_thread_counters();
    // A thread that has hardly begun: far below what the test program has done.
    EXPECT_LT(begun.minor_faults, 100);
  }).join();
}

}  // namespace
}  // namespace foxhunt::latency
