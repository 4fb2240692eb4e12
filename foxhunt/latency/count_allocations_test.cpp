#include "foxhunt/latency/count_allocations.h"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <thread>
#include <vector>

namespace foxhunt::latency {
namespace {

std::int64_t taken = 0;
std::int64_t freed = 0;
void start() {
  taken = thread_allocations();
  freed = thread_frees();
}
std::int64_t allocations() { return thread_allocations() - taken; }
std::int64_t frees() { return thread_frees() - freed; }

/// Keeps the compiler from leaving out a pair of new and delete.
void keep(void* memory) { asm volatile("" : : "r"(memory) : "memory"); }

TEST(CountAllocations, CountsEveryFormOfNewAndDelete) {
  struct alignas(256) Wide {
    char bytes[256];
  };
  start();
  const auto one = std::make_unique<int>(3);
  keep(one.get());
  EXPECT_EQ(allocations(), 1);

  start();
  auto* array = new int[100];
  keep(array);
  delete[] array;
  auto* wide = new Wide;
  keep(wide);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wide) % 256, 0U);
  delete wide;
  auto* wides = new Wide[3];
  keep(wides);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(wides) % 256, 0U);
  delete[] wides;
  auto* quiet = new (std::nothrow) int;
  keep(quiet);
  delete quiet;
  auto* quiet_wide = new (std::nothrow) Wide[2];
  keep(quiet_wide);
  delete[] quiet_wide;
  void* raw = ::operator new(0);
  keep(raw);
  EXPECT_NE(raw, nullptr);
  ::operator delete(raw);
  EXPECT_EQ(allocations(), 6);
  EXPECT_EQ(frees(), 6);
}

TEST(CountAllocations, DeletingNothingIsNoFree) {
  start();
  int* none = nullptr;
  keep(&none);
  delete none;
  EXPECT_EQ(frees(), 0);
  EXPECT_EQ(allocations(), 0);
}

TEST(CountAllocations, CountsThoseInsideOfTheStandardLibrary) {
  start();
  std::vector<int> values;
  values.reserve(10);
  keep(values.data());
  const std::string text(100, 'x');
  keep(const_cast<char*>(text.data()));
  EXPECT_EQ(allocations(), 2);
}

TEST(CountAllocations, CountsEachThreadForItself) {
  std::int64_t inside = -1;
  std::thread worker([&inside] {
    const std::int64_t before = thread_allocations();
    for (int i = 0; i < 10; ++i) keep(std::make_unique<int>(i).get());
    inside = thread_allocations() - before;
  });
  start();
  worker.join();
  EXPECT_EQ(inside, 10);
  EXPECT_EQ(allocations(), 0);
}

TEST(CountAllocations, MemoryThatCannotBeHadIsAnExceptionOrNull) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers end the program where malloc fails";
#else
  volatile std::size_t too_much = ~std::size_t{0} / 2;
  EXPECT_THROW(keep(::operator new(too_much)), std::bad_alloc);
  EXPECT_EQ(::operator new(too_much, std::nothrow), nullptr);
#endif
}

}  // namespace
}  // namespace foxhunt::latency
