#pragma once
// Running in bfloat16, and how far a result then lies from another.

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <algorithm>

namespace foxhunt::nn {

/// ||a - b|| / ||b||; 1e9 where something is not finite.
inline double relative_distance(const at::Tensor& a, const at::Tensor& b) {
  if (!at::isfinite(a).all().item<bool>() || !at::isfinite(b).all().item<bool>()) return 1e9;
  const at::Tensor wide = b.to(at::kDouble);
  return (a.to(at::kDouble) - wide).norm().item<double>() /
         std::max(1e-30, wide.norm().item<double>());
}

/// While one lives, the CPU's products run in bfloat16.
class Bf16Autocast {
 public:
  Bf16Autocast() {
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::set_autocast_enabled(at::kCPU, true);
  }
  ~Bf16Autocast() {
    at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  Bf16Autocast(const Bf16Autocast&) = delete;
  Bf16Autocast& operator=(const Bf16Autocast&) = delete;
};

}  // namespace foxhunt::nn
