#pragma once
// The most resident memory since a moment, over what there was. Torch-free.

#include <cstdint>

namespace foxhunt::train {

/// Gives free memory back to the system and starts over the kernel's count of the peak.
class ResidentPeak {
 public:
  ResidentPeak();
  /// Bytes; -1 where this system does not tell.
  std::int64_t bytes() const;

 private:
  std::int64_t before_ = -1;
};

}  // namespace foxhunt::train
