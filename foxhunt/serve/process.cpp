#include "foxhunt/serve/process.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace foxhunt::serve {

Granted pin_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE) {
    return {.ok = false, .text = fmt::format("not pinned: there is no CPU {}", cpu)};
  }
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) {
    return {.ok = false,
            .text = fmt::format("not pinned to CPU {}: {}", cpu, std::strerror(errno))};
  }
  return {.ok = true, .text = fmt::format("pinned to CPU {}", cpu)};
}

void stay_off(int cpu) {
  cpu_set_t set;
  if (cpu < 0 || cpu >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof set, &set) != 0) return;
  CPU_CLR(static_cast<std::size_t>(cpu), &set);
  if (CPU_COUNT(&set) > 0) ::sched_setaffinity(0, sizeof set, &set);
}

Granted lock_memory() {
  rlimit limit{};
  const bool unlimited = ::geteuid() == 0 || (::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 &&
                                              limit.rlim_cur == RLIM_INFINITY);
  if (::mlockall(unlimited ? MCL_CURRENT | MCL_FUTURE : MCL_CURRENT) != 0) {
    return {.ok = false,
            .text = fmt::format("memory not locked: {} (raise the limit: ulimit -l, LimitMEMLOCK)",
                                std::strerror(errno))};
  }
  return {.ok = true,
          .text = unlimited ? "memory locked, now and later" : "memory locked as it is now"};
}

void touch_stack() {
  std::array<volatile char, std::size_t{128} << 10> room;
  for (std::size_t i = 0; i < room.size(); i += 4096) room[i] = 0;
}

}  // namespace foxhunt::serve
