#include "foxhunt/latency/pin.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <thread>
#include <vector>

namespace foxhunt::latency {
namespace {

/// On a thread of its own, so that the test program stays where it may run.
template <class F>
void apart(F&& f) {
  std::thread(std::forward<F>(f)).join();
}

TEST(Pin, AThreadStaysOnTheCoreItWasPinnedTo) {
  apart([] {
    cpu_set_t before;
    ASSERT_EQ(::sched_getaffinity(0, sizeof before, &before), 0);
    for (int core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(static_cast<std::size_t>(core), &before)) continue;
      const Grant grant = pin_to_core(core);
      ASSERT_TRUE(grant) << grant.text;
      EXPECT_EQ(current_core(), core);
      cpu_set_t now;
      ASSERT_EQ(::sched_getaffinity(0, sizeof now, &now), 0);
      EXPECT_EQ(CPU_COUNT(&now), 1);
      EXPECT_EQ(grant.text, "pinned to core " + std::to_string(core));
    }
  });
}

TEST(Pin, ACoreThatIsNotThereIsRefusedInTheSystemsWords) {
  for (const int core : {-1, CPU_SETSIZE - 1, CPU_SETSIZE, 1 << 30}) {
    apart([core] {
      const Grant grant = pin_to_core(core);
      EXPECT_FALSE(grant);
      EXPECT_NE(grant.text.find("refused: Invalid argument"), std::string::npos) << grant.text;
    });
  }
}

TEST(Pin, RealTimePriorityIsEitherThereOrRefusedWithAReason) {
  apart([] {
    const Grant grant = use_fifo(1);
    EXPECT_EQ(grant.granted, ::sched_getscheduler(0) == SCHED_FIFO) << grant.text;
    if (!grant.granted) {
      EXPECT_NE(grant.text.find("refused: "), std::string::npos) << grant.text;
    }
  });
  apart([] { EXPECT_FALSE(use_fifo(1000)); });
}

TEST(Pin, LockedMemoryIsEitherGrantedOrRefusedWithAReason) {
  const Grant grant = lock_memory();
  ::munlockall();
  if (!grant.granted) {
    EXPECT_NE(grant.text.find("mlockall refused: "), std::string::npos) << grant.text;
  }
}

TEST(PreTouch, BringsEveryPageInAndChangesNothing) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t bytes = 40 * page;
  void* place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(place, MAP_FAILED);
  auto* block = static_cast<std::byte*>(place);
  block[page + 7] = std::byte{42};
  block[5 * page] = std::byte{43};
  // An odd piece in the middle: 38 pages and parts of two.
  const Grant grant = pre_touch({block + 100, bytes - 200});
  EXPECT_TRUE(grant) << grant.text;
  EXPECT_EQ(grant.text, "40 pages touched");
  EXPECT_EQ(block[page + 7], std::byte{42});
  EXPECT_EQ(block[5 * page], std::byte{43});
  EXPECT_EQ(block[0], std::byte{0});
  std::vector<unsigned char> there(40, 0);
  ASSERT_EQ(::mincore(place, bytes, there.data()), 0);
  for (const unsigned char flags : there) EXPECT_EQ(flags & 1U, 1U);
  ::munmap(place, bytes);
  EXPECT_TRUE(pre_touch({}));
}

}  // namespace
}  // namespace foxhunt::latency
