#include "foxhunt/base/machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <map>
#include <sstream>

#include "foxhunt/base/hash.h"

namespace foxhunt {
namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

/// The number at the start of `text`, 0 without one; `rest` is what follows it.
std::int64_t number_of(std::string_view text, std::string_view* rest = nullptr) {
  std::int64_t value = 0;
  const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
  if (rest != nullptr) *rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return std::max<std::int64_t>(value, 0);
}

/// "32K", "1024K", "2M".
std::int64_t size_of_text(std::string_view text) {
  std::string_view unit;
  const std::int64_t value = number_of(text, &unit);
  // No cache comes near this; a larger value is no size and would overflow.
  if (value > (std::int64_t{1} << 40)) return 0;
  if (unit.substr(0, 1) == "K") return value << 10;
  if (unit.substr(0, 1) == "M") return value << 20;
  return value;
}

/// How many CPUs "0-3,8" lists.
std::int64_t list_length(std::string_view text) {
  std::int64_t count = 0;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    const std::size_t dash = part.find('-');
    const std::int64_t first = number_of(part);
    const std::int64_t last =
        dash == std::string_view::npos ? first : number_of(part.substr(dash + 1));
    count += std::max<std::int64_t>(last - first + 1, 0);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return count;
}

/// The fields of the first CPU in /proc/cpuinfo: "model name", "flags" and so on.
std::map<std::string, std::string> cpuinfo(const fs::path& root) {
  std::map<std::string, std::string> fields;
  std::ifstream file(root / "proc/cpuinfo");
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    std::string name = line.substr(0, colon);
    name.erase(name.find_last_not_of(" \t") + 1);
    const std::size_t value = line.find_first_not_of(" \t", colon + 1);
    fields[name] = value == std::string::npos ? std::string() : line.substr(value);
  }
  return fields;
}

/// Linux lists a flag only where it also saves the registers that the instructions need.
std::vector<std::string> instruction_sets(const std::string& flags) {
  std::vector<std::string> words;
  std::istringstream text(flags);
  for (std::string word; text >> word;) words.push_back(word == "sse4_2" ? "sse4.2" : word);
  std::vector<std::string> found;
  for (const char* name :
       {"sse4.2", "avx2", "fma", "f16c", "avx_vnni", "avx512f", "avx512bw", "avx512vl", "avx512dq",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"}) {
    if (std::find(words.begin(), words.end(), name) != words.end()) found.emplace_back(name);
  }
  return found;
}

std::vector<Cache> caches(const fs::path& cpu_folder) {
  std::vector<Cache> found;
  for (int index = 0; index < 16; ++index) {
    const fs::path folder = cpu_folder / "cache" / fmt::format("index{}", index);
    const std::string type = first_line(folder / "type");
    if (type != "Data" && type != "Unified") continue;
    const std::int64_t level = number_of(first_line(folder / "level"));
    const std::int64_t bytes = size_of_text(first_line(folder / "size"));
    if (level < 1 || bytes == 0) continue;
    found.push_back({.name = level == 1 ? "L1d" : fmt::format("L{}", level),
                     .bytes = bytes,
                     .sharers = list_length(first_line(folder / "shared_cpu_list"))});
  }
  return found;
}

/// Cores' worth of CPU time that "quota period" grants, rounded up; 0: no limit.
std::int64_t granted(std::string_view quota, std::string_view period) {
  const std::int64_t time = number_of(quota);  // "max" and -1 are 0: no limit
  const std::int64_t every = number_of(period);
  return time > 0 && every > 0 ? (time - 1) / every + 1 : 0;
}

std::int64_t quota_of_folder(const fs::path& folder) {
  const std::string both = first_line(folder / "cpu.max");  // cgroup 2
  const std::size_t space = both.find(' ');
  if (space != std::string::npos) return granted(both, std::string_view(both).substr(space + 1));
  return granted(first_line(folder / "cpu.cfs_quota_us"), first_line(folder / "cpu.cfs_period_us"));
}

/// The tightest CPU quota of this process's control group and those around it; 0: none.
std::int64_t cpu_quota(const fs::path& root) {
  std::int64_t tightest = 0;
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (!controllers.empty() && controllers.find("cpu") == std::string::npos) continue;
    const fs::path mount = root / "sys/fs/cgroup" / (controllers.empty() ? "" : "cpu");
    fs::path group = fs::path(line.substr(second + 1)).relative_path();
    for (bool more = true; more; group = group.parent_path()) {
      more = !group.empty();
      const std::int64_t cores = quota_of_folder(group.empty() ? mount : mount / group);
      if (cores > 0) tightest = tightest == 0 ? cores : std::min(tightest, cores);
    }
  }
  return tightest;
}

std::vector<int> usable_cpus() {
  std::vector<int> cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  return cpus;
}

}  // namespace

Cache Machine::cache(const std::string& name) const {
  for (const Cache& one : caches) {
    if (one.name == name) return one;
  }
  return {.name = name};
}

bool Machine::has(const std::string& instruction_set) const {
  return std::find(instruction_sets.begin(), instruction_sets.end(), instruction_set) !=
         instruction_sets.end();
}

Machine machine_below(const fs::path& root, const std::vector<int>& usable_cpus) {
  std::map<std::string, std::string> info = cpuinfo(root);
  const fs::path cpus = root / "sys/devices/system/cpu";
  const fs::path one = cpus / fmt::format("cpu{}", usable_cpus.empty() ? 0 : usable_cpus.front());
  Machine machine;
  machine.cpu_model = info["model name"].empty() ? "unknown" : info["model name"];
  machine.vendor = info["vendor_id"];
  machine.family = number_of(info["cpu family"]);
  machine.model = number_of(info["model"]);
  machine.stepping = number_of(info["stepping"]);
  machine.cores = list_length(first_line(cpus / "online"));
  machine.usable_cores =
      usable_cpus.empty() ? machine.cores : static_cast<std::int64_t>(usable_cpus.size());
  const std::int64_t quota = cpu_quota(root);
  if (quota > 0) machine.usable_cores = std::min(machine.usable_cores, quota);
  machine.threads_per_core = list_length(first_line(one / "topology/thread_siblings_list"));
  machine.instruction_sets = instruction_sets(info["flags"]);
  machine.caches = caches(one);
  return machine;
}

Machine this_machine() {
  Machine machine = machine_below("/", usable_cpus());
  if (machine.cores == 0) machine.cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (machine.usable_cores == 0) machine.usable_cores = machine.cores;
  machine.memory_bytes =
      static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (machine.caches.empty()) {  // some containers hide /sys; the C library asks the CPU itself
    const auto add = [&machine](const char* name, long bytes) {
      if (bytes > 0) machine.caches.push_back({.name = name, .bytes = bytes});
    };
    add("L1d", ::sysconf(_SC_LEVEL1_DCACHE_SIZE));
    add("L2", ::sysconf(_SC_LEVEL2_CACHE_SIZE));
    add("L3", ::sysconf(_SC_LEVEL3_CACHE_SIZE));
  }
  return machine;
}

std::string cpu_fingerprint(const Machine& machine) {
  std::string text =
      fmt::format("{}|{}|{}|{}|{}|{}", machine.cpu_model, machine.vendor, machine.family,
                  machine.model, machine.stepping, fmt::join(machine.instruction_sets, " "));
  for (const Cache& cache : machine.caches)
    text += fmt::format("|{} {} {}", cache.name, cache.bytes, cache.sharers);
  return sha256_of(text).substr(0, 16);
}

void keep_freed_memory() {
  constexpr int kNever = 1 << 30;
  ::mallopt(M_MMAP_THRESHOLD, kNever);
  ::mallopt(M_TRIM_THRESHOLD, kNever);
}

}  // namespace foxhunt
