// Made-up machines as folders of /proc and /sys files, and the one that runs the test.
#include "foxhunt/base/machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace foxhunt {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class MachineTest : public testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::path(testing::TempDir()) / "machine" /
            (std::string(testing::UnitTest::GetInstance()->current_test_info()->name()) + "." +
             std::to_string(::getpid()));
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void put(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text << '\n';
  }
  void put_cache(int cpu, int index, const char* level, const char* type, const char* size,
                 const char* shared) const {
    const std::string folder =
        "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/cache/index" + std::to_string(index);
    put(folder + "/level", level);
    put(folder + "/type", type);
    put(folder + "/size", size);
    put(folder + "/shared_cpu_list", shared);
  }
  /// Eight logical CPUs on four cores, with the caches of a server core.
  void put_server() const {
    put("proc/cpuinfo",
        "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
        "model name\t: Some Xeon: fast\nstepping\t: 8\n"
        "flags\t\t: fpu sse4_2 avx avx2 fma avx512f avx512bw avx512_bf16 amx_tile avx512_fp16\n\n"
        "processor\t: 1\nmodel name\t: another\nflags\t\t: fpu avx512vl");
    put("sys/devices/system/cpu/online", "0-7");
    for (const int cpu : {0, 2}) {
      const char* siblings = cpu == 0 ? "0,4" : "2,6";
      put("sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/thread_siblings_list",
          siblings);
      put_cache(cpu, 0, "1", "Data", "48K", siblings);
      put_cache(cpu, 1, "1", "Instruction", "32K", siblings);
      put_cache(cpu, 2, "2", "Unified", cpu == 0 ? "2048K" : "1M", siblings);
      put_cache(cpu, 3, "3", "Unified", "38M", "0-7");
    }
  }
  fs::path root_;
};

TEST_F(MachineTest, ReadsTheCpuItsCachesAndWhoSharesThem) {
  put_server();
  const Machine machine = machine_below(root_, {0, 1, 2});
  EXPECT_EQ(machine.cpu_model, "Some Xeon: fast");
  EXPECT_EQ(machine.vendor, "GenuineIntel");
  EXPECT_EQ(machine.family, 6);
  EXPECT_EQ(machine.model, 143);
  EXPECT_EQ(machine.stepping, 8);
  EXPECT_EQ(machine.cores, 8);
  EXPECT_EQ(machine.usable_cores, 3);
  EXPECT_EQ(machine.threads_per_core, 2);
  EXPECT_THAT(machine.instruction_sets, ElementsAre("sse4.2", "avx2", "fma", "avx512f", "avx512bw",
                                                    "avx512_bf16", "avx512_fp16", "amx_tile"));
  EXPECT_TRUE(machine.has("avx2"));
  EXPECT_FALSE(machine.has("avx"));
  ASSERT_EQ(machine.caches.size(), 3U) << "the instruction cache is none of them";
  EXPECT_EQ(machine.cache("L1d").bytes, 48 << 10);
  EXPECT_EQ(machine.cache("L2").bytes, 2 << 20);
  EXPECT_EQ(machine.cache("L2").sharers, 2);
  EXPECT_EQ(machine.cache("L3").bytes, 38 << 20);
  EXPECT_EQ(machine.cache("L3").sharers, 8);
  EXPECT_EQ(machine.cache("L4").bytes, 0);
}

TEST_F(MachineTest, CachesAreThoseOfACoreThatThisProcessMayUse) {
  put_server();
  EXPECT_EQ(machine_below(root_, {2, 3}).cache("L2").bytes, 1 << 20);
}

TEST_F(MachineTest, ACpuQuotaLimitsTheUsableCores) {
  put_server();
  const auto usable = [this] { return machine_below(root_, {0, 1, 2, 3, 4, 5}).usable_cores; };
  put("proc/self/cgroup", "0::/box/inner");
  put("sys/fs/cgroup/box/inner/cpu.max", "max 100000");
  EXPECT_EQ(usable(), 6);
  put("sys/fs/cgroup/box/cpu.max", "250000 100000");
  EXPECT_EQ(usable(), 3) << "two and a half cores keep three threads busy";
  put("sys/fs/cgroup/cpu.max", "100000 100000");
  EXPECT_EQ(usable(), 1) << "the tightest of the groups around this one";
}

TEST_F(MachineTest, TheOlderFormOfAQuotaIsRead) {
  put_server();
  put("proc/self/cgroup", "5:memory:/a\n3:cpu,cpuacct:/box");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "200000");
  put("sys/fs/cgroup/cpu/box/cpu.cfs_period_us", "100000");
  EXPECT_EQ(machine_below(root_, {0, 1, 2, 3}).usable_cores, 2);
  put("sys/fs/cgroup/cpu/box/cpu.cfs_quota_us", "-1");
  EXPECT_EQ(machine_below(root_, {0, 1, 2, 3}).usable_cores, 4);
}

TEST_F(MachineTest, NothingReadableIsUnknownAndNoError) {
  const Machine machine = machine_below(root_, {});
  EXPECT_EQ(machine.cpu_model, "unknown");
  EXPECT_EQ(machine.cores, 0);
  EXPECT_TRUE(machine.caches.empty());
  put("proc/cpuinfo", "no colon\nflags\t:\ncpu family\t: -3\nmodel\t: 99999999999999999999");
  put("sys/devices/system/cpu/online", "7-3,x,");
  put_cache(0, 0, "1", "Data", "huge", "");
  put_cache(0, 1, "2", "Unified", "9223372036854775807K", "0");
  const Machine odd = machine_below(root_, {0});
  EXPECT_EQ(odd.family, 0);
  EXPECT_EQ(odd.cache("L1d").bytes, 0);
  EXPECT_EQ(odd.cache("L2").bytes, 0);
}

TEST_F(MachineTest, TheFingerprintIsOfTheCpuAndNotOfWhatThisProcessMayUse) {
  put_server();
  const Machine machine = machine_below(root_, {0});
  const std::string print = cpu_fingerprint(machine);
  EXPECT_THAT(print, testing::MatchesRegex("[0-9a-f]{16}"));
  EXPECT_EQ(cpu_fingerprint(machine_below(root_, {0, 1})), print);
  Machine other = machine;
  other.stepping = 9;
  EXPECT_NE(cpu_fingerprint(other), print);
  other = machine;
  other.caches[1].bytes += 1;
  EXPECT_NE(cpu_fingerprint(other), print);
  other = machine;
  other.instruction_sets.pop_back();
  EXPECT_NE(cpu_fingerprint(other), print);
}

TEST(ThisMachine, HasCoresAndMemory) {
  const Machine machine = this_machine();
  EXPECT_GE(machine.usable_cores, 1);
  EXPECT_LE(machine.usable_cores, machine.cores);
  EXPECT_GT(machine.memory_bytes, 1 << 20);
}

}  // namespace
}  // namespace foxhunt
