#pragma once
// Who computes: LibTorch's operations, or the project's own kernels.

#include <string_view>

namespace foxhunt::nn {

/// Both compute the same function; tests hold them equal. kNative runs where kernels exist for the
/// tensors' device and dtype, and LibTorch's operations elsewhere.
enum class Kernels { kAten, kNative };

inline std::string_view name_of(Kernels kernels) {
  return kernels == Kernels::kNative ? "native" : "aten";
}

}  // namespace foxhunt::nn
