#pragma once
// What this machine is: CPU, instruction sets, caches, cores, memory.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace foxhunt {

struct Cache {
  std::string name;  ///< "L1d", "L2", "L3"
  std::int64_t bytes = 0;
  std::int64_t sharers = 0;  ///< logical CPUs that share it; 0: the system does not say
};

/// Zeros, empty texts and empty lists stand for what the system does not say.
struct Machine {
  std::string cpu_model;  ///< "unknown" where the system does not say
  std::string vendor;     ///< "GenuineIntel", "AuthenticAMD"
  std::int64_t family = 0;
  std::int64_t model = 0;
  std::int64_t stepping = 0;
  std::int64_t cores = 0;         ///< logical CPUs that are online
  std::int64_t usable_cores = 0;  ///< those that this process may use: affinity and CPU quota
  std::int64_t threads_per_core = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> instruction_sets;  ///< of those that matter to kernels
  std::vector<Cache> caches;                  ///< of the core that the first usable CPU is on

  /// The cache of that name; one of 0 bytes where there is none.
  Cache cache(const std::string& name) const;
  bool has(const std::string& instruction_set) const;
};

Machine this_machine();

/// The same from the files of /proc and /sys below `root`, for a process that may run on
/// `usable_cpus`. Never fails: what cannot be read stays unknown.
Machine machine_below(const std::filesystem::path& root, const std::vector<int>& usable_cpus);

/// 16 hexadecimal digits that change with the CPU (model, stepping, instruction sets, caches) and
/// not with what this process may use of it.
std::string cpu_fingerprint(const Machine& machine);

/// From here on, large blocks that this process frees stay with it instead of going back to the
/// system: a training step needs the same again, and new pages cost more than the memory.
void keep_freed_memory();

}  // namespace foxhunt
