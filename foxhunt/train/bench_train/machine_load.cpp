#include "foxhunt/train/bench_train/machine_load.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>

namespace foxhunt::train {
namespace {

/// Seconds that all cores were busy or taken away, from the first line of /proc/stat; -1 unknown.
double busy_seconds() {
  std::ifstream stat("/proc/stat");
  std::string word;
  double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
  stat >> word >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
  if (!stat || word != "cpu") return -1;
  return (user + nice + system + irq + soft + steal) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double own_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double wall_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

MachineLoad::MachineLoad() : all_(busy_seconds()), own_(own_seconds()), wall_(wall_seconds()) {}

double MachineLoad::other_cores() const {
  const double all = busy_seconds();
  const double wall = wall_seconds() - wall_;
  if (all < 0 || all_ < 0 || wall <= 0) return 0;
  return std::max(0.0, ((all - all_) - (own_seconds() - own_)) / wall);
}

double load_average() {
  std::ifstream file("/proc/loadavg");
  double load = -1;
  return file >> load ? load : -1;
}

std::int64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  for (std::string word; file >> word;) {
    std::int64_t kilobytes = 0;
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return 0;
}

}  // namespace foxhunt::train
