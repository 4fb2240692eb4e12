#pragma once
// What a process asks of the system so that its answers come at once, and whether it was granted.

#include <string>

namespace foxhunt::serve {

struct Granted {
  bool ok = false;
  std::string text;  ///< "pinned to CPU 3", or why not
};

/// The calling thread on one CPU from now on.
Granted pin_to(int cpu);
/// The calling thread on every CPU that it may use but this one; nothing where there is no other.
void stay_off(int cpu);
/// All pages of the process stay in memory: those of now, and later ones where the limit
/// (RLIMIT_MEMLOCK) cannot make a later allocation fail.
Granted lock_memory();
/// Touches the stack that serving may use.
void touch_stack();

}  // namespace foxhunt::serve
