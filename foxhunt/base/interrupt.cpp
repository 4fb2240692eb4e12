#include "foxhunt/base/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>

namespace foxhunt {
namespace {

std::atomic<bool> flag{false};
static_assert(std::atomic<bool>::is_always_lock_free, "the signal handler needs it");

void handle(int) {
  if (flag.exchange(true)) ::_exit(130);
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = handle;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

bool interrupted() noexcept { return flag.load(std::memory_order_relaxed); }
void set_interrupted(bool value) noexcept { flag.store(value, std::memory_order_relaxed); }

}  // namespace foxhunt
