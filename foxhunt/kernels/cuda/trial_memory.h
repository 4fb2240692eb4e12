#pragma once
// What running a trial needs: its values in a kernel's types, the memory they lie in, and how far
// an answer may be off.

#include <string>
#include <type_traits>
#include <vector>

#include "foxhunt/kernels/cuda/portable.h"

namespace foxhunt::kernels::cuda {

/// What the kernels promise of an answer, relative to its largest value. float32: sums of some
/// hundred products, 6e-8 each. The worst seen on the host is 3.3e-6, of a dA that cancels; a GPU's
/// exponential has another last bit.
inline constexpr double kFloatBound = 1e-5;
/// Stored as bfloat16, whose 8 bits are at worst 2^-8 = 3.9e-3 off, and the float32 sum before it.
inline constexpr double kBf16Bound = 3.95e-3;
/// The bound of the answer `name`: bfloat16 inputs have bfloat16 answers and gradients.
template <class In>
double bound_of(const std::string& name) {
  const bool narrow_answer = name == "y" || name == "dx" || name == "dB" || name == "dC";
  return std::is_same_v<In, Bf16> && narrow_answer ? kBf16Bound : kFloatBound;
}

/// The host's own memory.
struct HostMemory {
  template <class T>
  T* put(std::vector<T>& values) {
    return values.data();
  }
  template <class T>
  void get(const T*, std::vector<T>&) {}
};

template <class T, class U>
T converted(U value) {
  T out{};
  if constexpr (std::is_same_v<T, double>) {
    out = value;
  } else {
    narrow(static_cast<float>(value), out);
  }
  return out;
}

template <class T>
std::vector<T> converted(const std::vector<double>& values) {
  std::vector<T> out;
  out.reserve(values.size());
  for (const double value : values) out.push_back(converted<T>(value));
  return out;
}

template <class T>
std::vector<double> widened(const std::vector<T>& values) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const T value : values) out.push_back(static_cast<double>(widen(value)));
  return out;
}

}  // namespace foxhunt::kernels::cuda
