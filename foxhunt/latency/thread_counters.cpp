#include "foxhunt/latency/thread_counters.h"

#include <sys/resource.h>

namespace foxhunt::latency {

ThreadCounters operator-(const ThreadCounters& a, const ThreadCounters& b) noexcept {
  return {.minor_faults = a.minor_faults - b.minor_faults,
          .major_faults = a.major_faults - b.major_faults,
          .voluntary_switches = a.voluntary_switches - b.voluntary_switches,
          .involuntary_switches = a.involuntary_switches - b.involuntary_switches};
}

ThreadCounters read_thread_counters() noexcept {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);  // cannot fail: the arguments are valid
  return {.minor_faults = usage.ru_minflt,
          .major_faults = usage.ru_majflt,
          .voluntary_switches = usage.ru_nvcsw,
          .involuntary_switches = usage.ru_nivcsw};
}

}  // namespace foxhunt::latency
