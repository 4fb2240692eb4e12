#pragma once
// A ring by name in POSIX shared memory, its two roles and the waiting.
//
// A role is a lock on the shared-memory file that the kernel gives up with the process: a second
// producer or consumer is refused, and each side can see that the other one is gone.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "foxhunt/serve/ring.h"

namespace foxhunt::serve {

enum class RingRole { kProducer = 0, kConsumer = 1 };
enum class Waiting { kBlock, kSpin };

class SharedRing {
 public:
  /// Opens the ring `name`, or makes it where there is none, and takes the role. The memory is
  /// touched. Errors  ConfigError: a name or capacity (a power of two, 2 to 2^24) that cannot be;
  /// FormatError: a ring of another kind, version or slot size; UsageError: the role is taken, by
  /// whom; IoError.
  SharedRing(const std::string& name, RingRole role, RingKind kind, std::size_t payload_bytes,
             std::size_t slot_bytes, std::uint64_t capacity);
  ~SharedRing();
  SharedRing(const SharedRing&) = delete;
  SharedRing& operator=(const SharedRing&) = delete;

  void* memory() const { return memory_; }
  RingHeader& header() const { return *static_cast<RingHeader*>(memory_); }
  const std::string& name() const { return name_; }
  std::size_t bytes() const { return bytes_; }

  /// Whether a process has the other role now. Cost  one call of the system.
  bool other_side_alive() const;
  /// Removes the name; processes that have the ring keep it.
  void unlink();

 private:
  void make_or_open(std::size_t payload_bytes, std::size_t slot_bytes, std::uint64_t capacity,
                    RingKind kind);
  void initialise(std::size_t payload_bytes, std::size_t slot_bytes, std::uint64_t capacity,
                  RingKind kind);
  void check(std::size_t payload_bytes, std::size_t slot_bytes, RingKind kind) const;
  void map(std::size_t bytes);
  void take_role();

  std::string name_;
  RingRole role_;
  int fd_ = -1;
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

template <class T>
std::unique_ptr<SharedRing> open_ring(const std::string& name, RingRole role, RingKind kind,
                                      std::uint64_t capacity) {
  return std::make_unique<SharedRing>(name, role, kind, sizeof(T), sizeof(RingSlot<T>), capacity);
}

/// Sleeps until `word` is no longer `seen`, or 100 ms at most.
void sleep_on(const std::atomic<std::uint32_t>& word, std::uint32_t seen) noexcept;
/// Changes `word` and wakes who sleeps on it.
void wake(std::atomic<std::uint32_t>& word) noexcept;
/// What a spinning core does between two looks.
void relax() noexcept;

/// Waits for `ready()`: spinning, or asleep where the other side will wake it (`word`, `waiters`).
/// Returns after 100 ms at most, so that the caller can look around; whether it is ready then.
template <class Ready>
bool wait_for(std::atomic<std::uint32_t>& word, std::atomic<std::uint32_t>& waiters,
              Waiting waiting, Ready ready) noexcept {
  if (waiting == Waiting::kSpin) {
    for (int i = 0; i < 1 << 16; ++i) {
      if (ready()) return true;
      relax();
    }
    return false;
  }
  const std::uint32_t seen = word.load(std::memory_order_seq_cst);
  waiters.store(1, std::memory_order_seq_cst);
  if (!ready()) sleep_on(word, seen);
  waiters.store(0, std::memory_order_seq_cst);
  return ready();
}

}  // namespace foxhunt::serve
