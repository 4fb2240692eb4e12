#include "foxhunt/train/resident_peak.h"

#include <malloc.h>

#include <fstream>
#include <string>

namespace foxhunt::train {
namespace {

/// The line `key` of /proc/self/status in bytes; 0 where there is none.
std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kilobytes = 0;
    if (word == key && status >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

ResidentPeak::ResidentPeak() {
  ::malloc_trim(0);
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5";
  reset.flush();
  if (reset) before_ = status_bytes("VmRSS:");
}

std::int64_t ResidentPeak::bytes() const {
  return before_ < 0 ? -1 : status_bytes("VmHWM:") - before_;
}

}  // namespace foxhunt::train
