#pragma once
// Memory while a run goes on: what the system sees, what tensors took, what lies on the GPU; and
// the budget that is kept.

#include <cstdint>
#include <optional>
#include <string>

namespace foxhunt::train {

/// Bytes. What does not exist here is empty: no GPU, or tensors that nobody counts.
struct MemoryUse {
  std::int64_t resident = 0;
  std::int64_t resident_peak = 0;                ///< of the process so far
  std::optional<std::int64_t> allocator_peak{};  ///< of tensors on the CPU
  /// What this process holds on its GPU, by NVML where the driver tells processes apart, else what
  /// LibTorch's allocator reserved; and the most of it that was seen.
  std::optional<std::int64_t> device{};
  std::optional<std::int64_t> device_peak{};
  /// The most that tensors on the GPU took, by LibTorch's allocator.
  std::optional<std::int64_t> device_allocator_peak{};

  /// "412 MiB, GPU 1.20 GiB".
  std::string text() const;
};

class MemoryWatch {
 public:
  /// `gpu` below 0: none. `budget` 0: none; it holds for the GPU where there is one, else for what
  /// is resident. `outside`: what is still to come beside tensors (scratch, batches, files).
  MemoryWatch(int gpu, std::int64_t budget, std::int64_t outside);
  /// Takes the limit off the tensors again.
  ~MemoryWatch();
  MemoryWatch(const MemoryWatch&) = delete;
  MemoryWatch& operator=(const MemoryWatch&) = delete;

  /// Reads everything. A few system calls.
  const MemoryUse& look();
  const MemoryUse& seen() const { return use_; }

  /// Behind every step: looks, and sets what tensors may still take from what everything else took
  /// by now. Errors  MemoryError where the budget was passed.
  void keep_budget();
  /// In front of work whose large blocks are others: gives freed memory back to the system.
  void make_room();
  std::int64_t budget() const { return budget_; }

 private:
  int gpu_;
  std::int64_t budget_;
  std::int64_t outside_ = 0;
  MemoryUse use_;
};

}  // namespace foxhunt::train
