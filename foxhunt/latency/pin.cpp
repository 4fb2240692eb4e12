#include "foxhunt/latency/pin.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

namespace foxhunt::latency {
namespace {

Grant refused(const std::string& what, int error) {
  return {.text = fmt::format("{} refused: {}", what, std::strerror(error))};
}

}  // namespace

int current_core() noexcept { return ::sched_getcpu(); }

Grant pin_to_core(int core) {
  const std::string what = fmt::format("core {}", core);
  if (core < 0 || core >= CPU_SETSIZE) return refused(what, EINVAL);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(core), &set);
  if (::sched_setaffinity(0, sizeof set, &set) != 0) return refused(what, errno);
  const int now = current_core();
  if (now != core) return {.text = fmt::format("{} refused: still on core {}", what, now)};
  return {.granted = true, .text = "pinned to " + what};
}

Grant use_fifo(int priority) {
  const std::string what = fmt::format("SCHED_FIFO {}", priority);
  const sched_param wanted{.sched_priority = priority};
  if (::sched_setscheduler(0, SCHED_FIFO, &wanted) != 0) return refused(what, errno);
  return {.granted = true, .text = what};
}

Grant lock_memory() {
  if (::mlockall(MCL_CURRENT | MCL_FUTURE) != 0) return refused("mlockall", errno);
  return {.granted = true, .text = "memory locked"};
}

Grant pre_touch(std::span<std::byte> block) {
  if (block.empty()) return {.granted = true, .text = "0 pages touched"};
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(block.data());
  const std::uintptr_t first = begin / page * page;
  const std::uintptr_t pages = (begin + block.size() - first + page - 1) / page;
  for (std::uintptr_t i = 0; i < pages; ++i) {
    const std::uintptr_t at = std::max(first + i * page, begin);
    // Locked, so that another thread's write between reading and writing is not undone; assembly,
    // since a compiler may take an atomic `or` of nothing for a read.
    asm volatile("lock orb $0, %0"
                 : "+m"(*reinterpret_cast<unsigned char*>(block.data() + (at - begin)))
                 :
                 : "cc");
  }
  std::vector<unsigned char> resident(pages, 0);
  if (::mincore(block.data() - (begin - first), pages * page, resident.data()) != 0) {
    return refused(fmt::format("touching {} pages: asking for them", pages), errno);
  }
  const auto missing = std::count_if(resident.begin(), resident.end(),
                                     [](unsigned char flags) { return (flags & 1U) == 0; });
  if (missing > 0) return {.text = fmt::format("{} of {} pages did not stay", missing, pages)};
  return {.granted = true, .text = fmt::format("{} pages touched", pages)};
}

}  // namespace foxhunt::latency
