#pragma once
// A thread block on the host: the threads of each phase run one after the other.
//
// The order of the threads can be reversed. What changes with it was a race: two threads of one
// phase that touched the same value, that is, a barrier that is missing.

#include <array>

namespace foxhunt::kernels::cuda {

enum class ThreadOrder { kForward, kBackward };

template <int kThreadCount>
class HostBlock {
 public:
  static constexpr int kThreads = kThreadCount;

  /// A value that each thread keeps over phases.
  template <class T>
  class Local {
   public:
    T& operator[](int thread) { return each_[static_cast<std::size_t>(thread)]; }

   private:
    std::array<T, static_cast<std::size_t>(kThreadCount)> each_{};
  };

  explicit HostBlock(ThreadOrder order) : order_(order) {}

  /// One phase: every thread, then a barrier.
  template <class Phase>
  void run(const Phase& phase) {
    for (int i = 0; i < kThreads; ++i)
      phase(order_ == ThreadOrder::kForward ? i : kThreads - 1 - i);
  }

 private:
  ThreadOrder order_;
};

}  // namespace foxhunt::kernels::cuda
