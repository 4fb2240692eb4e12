#pragma once
// A fixed piece of work that says how fast this machine is at this moment: matrix products by the
// kernels that training uses, and copies that do not fit a core's caches. Torch-free.

#include <cstdint>
#include <vector>

#include "foxhunt/base/thread_pool.h"

namespace foxhunt::train {

class HostReference {
 public:
  static constexpr std::int64_t kSide = 256;       ///< of the square matrices, float32
  static constexpr std::int64_t kPieces = 4;       ///< products a program, one behind another
  static constexpr std::int64_t kBytes = 4 << 20;  ///< copied a program

  /// Allocates and touches everything; about 9 MiB a thread.
  explicit HostReference(int threads);

  /// One program by the calling thread.
  void run_one();
  /// As many programs as there are threads, their pieces shared out.
  void run_all();
  int threads() const { return pool_.size(); }

 private:
  struct Room {
    std::vector<float> a, b, c;
    std::vector<char> from, to;
  };
  void piece(Room& room, std::int64_t index);

  ThreadPool pool_;
  std::vector<Room> rooms_;  ///< one a thread
};

}  // namespace foxhunt::train
