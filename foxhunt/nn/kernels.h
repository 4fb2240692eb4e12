#pragma once
// Who computes the state space: LibTorch's operations or our own kernels. Torch-free.

#include <string_view>

namespace foxhunt::nn {

enum class Kernels {
  kAten,    ///< compositions of LibTorch's operations, on every device and dtype
  kNative,  ///< room kernels, where it has the device and dtype; kAten elsewhere
};

constexpr std::string_view text_of(Kernels kernels) {
  return kernels == Kernels::kAten ? "aten" : "native";
}

}  // namespace foxhunt::nn
