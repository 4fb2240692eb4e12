#include "foxhunt/base/machine.h"

#include <unistd.h>

#include <fstream>

namespace foxhunt {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> found;
#if defined(__x86_64__)
  const auto add = [&found](const char* name, int here) {
    if (here != 0) found.emplace_back(name);
  };
  __builtin_cpu_init();
  add("sse4.2", __builtin_cpu_supports("sse4.2"));
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx512bw", __builtin_cpu_supports("avx512bw"));
  add("avx512vl", __builtin_cpu_supports("avx512vl"));
  add("avx512_vnni", __builtin_cpu_supports("avx512vnni"));
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
#endif
  return found;
}

std::vector<Cache> caches() {
  std::vector<Cache> found;
  const auto add = [&found](const char* name, long bytes) {
    if (bytes > 0) found.push_back({name, bytes});
  };
  add("L1d", ::sysconf(_SC_LEVEL1_DCACHE_SIZE));
  add("L2", ::sysconf(_SC_LEVEL2_CACHE_SIZE));
  add("L3", ::sysconf(_SC_LEVEL3_CACHE_SIZE));
  return found;
}

}  // namespace

Machine this_machine() {
  return {.cpu_model = cpu_model(),
          .cores = ::sysconf(_SC_NPROCESSORS_ONLN),
          .memory_bytes =
              static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE),
          .instruction_sets = instruction_sets(),
          .caches = caches()};
}

}  // namespace foxhunt
