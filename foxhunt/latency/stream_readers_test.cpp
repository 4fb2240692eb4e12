#include "foxhunt/latency/stream_readers.h"

#include <cpuid.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/latency/large_buffer.h"

namespace foxhunt::latency {
namespace {

// A reader that skips a float would make the floor too low.
TEST(StreamReaders, EachDependsOnEveryFloatItIsGiven) {
  constexpr std::int64_t kCount = 3 * kReaderFloats;
  LargeBuffer buffer(kCount * static_cast<std::int64_t>(sizeof(float)));
  float* const floats = buffer.floats();
  for (const StreamReader& reader : stream_readers()) {
    if (!reader.runs_here()) continue;
    std::fill_n(floats, kCount, 0.0F);
    ASSERT_EQ(reader.read(floats, kCount), 0.0F) << reader.name;
    for (std::int64_t i = 0; i < kCount; ++i) {
      floats[i] = 2.0F;
      ASSERT_NE(reader.read(floats, kCount), 0.0F) << reader.name << " at " << i;
      floats[i] = 0.0F;
    }
    floats[kCount] = 2.0F;
    EXPECT_EQ(reader.read(floats, kCount), 0.0F) << reader.name << " reads past its end";
    floats[kCount] = 0.0F;
  }
}

TEST(StreamReaders, TheOnesThatMultiplyAddUpHalfOfEverything) {
  constexpr std::int64_t kCount = 5 * kReaderFloats;
  const LargeBuffer ones(kCount * static_cast<std::int64_t>(sizeof(float)));
  for (const StreamReader& reader : stream_readers()) {
    if (!reader.runs_here() || std::string_view(reader.name).substr(0, 4) != "fma_") continue;
    EXPECT_EQ(reader.read(ones.floats(), kCount), 0.5F * kCount) << reader.name;  // exact in float
  }
}

bool avx2_runs() { return __builtin_cpu_supports("avx2") != 0; }
[[gnu::target("avx")]] void clean_upper_halves() { asm volatile("vzeroupper" : : : "memory"); }
/// Which register states the CPU holds to be in use (XINUSE); bit 2: upper halves of ymm.
[[gnu::target("xsave")]] std::uint64_t states_in_use() { return __builtin_ia32_xgetbv(1); }

// Upper halves left dirty slow down SSE code of the whole process: what is timed next.
TEST(StreamReaders, LeaveNoUpperHalfOfARegisterDirty) {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  if (__get_cpuid_count(0xd, 1, &a, &b, &c, &d) == 0 || (a & 4U) == 0 || !avx2_runs()) {
    GTEST_SKIP() << "this CPU does not say which registers are in use";
  }
  const LargeBuffer ones(1 << 16);
  for (const StreamReader& reader : stream_readers()) {
    if (!reader.runs_here()) continue;
    clean_upper_halves();
    if ((states_in_use() & 4U) != 0) GTEST_SKIP() << "this CPU does not track upper halves";
    reader.read(ones.floats(), kReaderFloats);
    EXPECT_EQ(states_in_use() & 4U, 0U) << reader.name;
  }
}

TEST(LargeBuffer, IsAlignedToLargePagesAndHoldsWhatWasAsked) {
  const LargeBuffer buffer(3 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.floats()) % (2 << 20), 0U);
  EXPECT_EQ(buffer.bytes(), 4 << 20);
  EXPECT_EQ(buffer.floats()[buffer.bytes() / 4 - 1], 1.0F);
}

}  // namespace
}  // namespace foxhunt::latency
