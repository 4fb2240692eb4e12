#pragma once
// What this machine is: CPU, instruction sets, caches, memory.

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt {

struct Cache {
  std::string name;  ///< "L1d", "L2", "L3"
  std::int64_t bytes = 0;
};

struct Machine {
  std::string cpu_model;
  std::int64_t cores = 0;
  std::int64_t memory_bytes = 0;
  std::vector<std::string> instruction_sets;  ///< of those that matter to kernels
  std::vector<Cache> caches;                  ///< of one core; empty where the system does not say
};

Machine this_machine();

}  // namespace foxhunt
