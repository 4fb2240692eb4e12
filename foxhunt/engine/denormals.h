#pragma once
// Denormal numbers count as zero while this lives, in results and in operands; what the caller had
// comes back at its end. A state that fades would otherwise become slow on some CPUs.

#include <xmmintrin.h>

namespace foxhunt::engine {

class NoDenormals {
 public:
  NoDenormals() noexcept : before_(_mm_getcsr()) { _mm_setcsr(before_ | kFlush | kAsZero); }
  ~NoDenormals() { _mm_setcsr(before_); }
  NoDenormals(const NoDenormals&) = delete;
  NoDenormals& operator=(const NoDenormals&) = delete;

 private:
  static constexpr unsigned kFlush = 0x8000;
  static constexpr unsigned kAsZero = 0x0040;
  unsigned before_;
};

}  // namespace foxhunt::engine
