#pragma once
// Memory as an engine should hold its weights: aligned to 2 MB, touched, in large pages where the
// system grants them.

#include <cstdint>

namespace foxhunt::latency {

class LargeBuffer {
 public:
  /// bytes > 0; every float in it is 1. Errors  Error(kMemory) naming the size.
  explicit LargeBuffer(std::int64_t bytes);
  ~LargeBuffer();
  LargeBuffer(const LargeBuffer&) = delete;
  LargeBuffer& operator=(const LargeBuffer&) = delete;

  float* floats() noexcept { return floats_; }
  const float* floats() const noexcept { return floats_; }
  std::int64_t bytes() const noexcept { return bytes_; }  ///< rounded up to whole 2 MB

 private:
  void* place_;
  std::size_t mapped_;
  float* floats_;
  std::int64_t bytes_;
};

}  // namespace foxhunt::latency
