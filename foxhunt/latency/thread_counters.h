#pragma once
// What the kernel did to the calling thread: page faults and context switches (getrusage).
//
// An involuntary switch took the core away for another thread; what a hypervisor takes shows in
// hiccup.h only.

#include <cstdint>

namespace foxhunt::latency {

struct ThreadCounters {
  std::int64_t minor_faults = 0;  ///< a page was given or mapped without reading from disk
  std::int64_t major_faults = 0;
  std::int64_t voluntary_switches = 0;
  std::int64_t involuntary_switches = 0;

  friend ThreadCounters operator-(const ThreadCounters& a, const ThreadCounters& b) noexcept;
  friend bool operator==(const ThreadCounters&, const ThreadCounters&) = default;
};

/// Since the thread began. A system call.
ThreadCounters read_thread_counters() noexcept;

}  // namespace foxhunt::latency
