#pragma once
// What else the machine's cores do, and how much of its memory is free. Torch-free.

#include <cstdint>

namespace foxhunt::train {

/// Counts from its construction on.
class MachineLoad {
 public:
  MachineLoad();
  /// Mean number of cores that other processes used since, stolen time included; 0 where the system
  /// does not tell.
  double other_cores() const;

 private:
  double all_, own_, wall_;  ///< seconds: of all cores, of this process, of the clock
};

/// The load average of the last minute; -1 where the system does not tell.
double load_average();
/// Bytes that a program may still take without swapping; 0 where the system does not tell.
std::int64_t available_memory();

}  // namespace foxhunt::train
