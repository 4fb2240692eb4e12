#pragma once
// Asking the system for quiet: a core, a priority, memory that stays. Each request says whether it
// was granted and in which words it was refused; nothing is refused silently.

#include <cstddef>
#include <span>
#include <string>

namespace foxhunt::latency {

struct Grant {
  bool granted = false;
  std::string text;  ///< "pinned to core 3", "SCHED_FIFO 50 refused: Operation not permitted"

  explicit operator bool() const noexcept { return granted; }
};

/// The core that the calling thread runs on now.
int current_core() noexcept;

/// The calling thread stays on `core`, and is there on return.
Grant pin_to_core(int core);

/// SCHED_FIFO for the calling thread, priority 1 to 99. The kernel still takes 5 % of each second
/// (sched_rt_runtime_us) unless that is turned off: 50 ms stalls.
Grant use_fifo(int priority);

/// Present and future pages of the process stay in memory (mlockall).
Grant lock_memory();

/// Writes to every page of the block without changing it, and asks whether all are there.
Grant pre_touch(std::span<std::byte> block);

}  // namespace foxhunt::latency
