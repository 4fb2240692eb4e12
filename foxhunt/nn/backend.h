#pragma once
// Who computes: LibTorch's operations, or the project's own kernels.

#include <string_view>

namespace foxhunt::nn {

/// Both compute the same function; tests hold them equal.
enum class Kernels {
  kAten,    ///< LibTorch's operations, on every device and dtype
  kNative,  ///< our own where there are some for device and dtype, LibTorch's operations elsewhere
};

inline std::string_view name_of(Kernels kernels) {
  return kernels == Kernels::kNative ? "native" : "aten";
}

}  // namespace foxhunt::nn
