#pragma once
// Tensors on meta that go the way of another device: the same allocations, nothing computed.
//
// The project's own kernels take no tensor on meta, so a model there falls back to LibTorch's
// operations, which allocate otherwise. While a MetaAs lives, its thread takes the way of the
// device it names, and the functions around the kernels leave the kernels themselves out. That is
// how a training step is weighed without running it (train/memory/step_weight.h).

#include <ATen/core/Tensor.h>

namespace foxhunt::nn {

enum class MetaRole { kNone, kCpu, kCuda };

inline thread_local MetaRole meta_role = MetaRole::kNone;  // NOLINT: a setting of the thread

class MetaAs {
 public:
  explicit MetaAs(MetaRole role) : before_(meta_role) { meta_role = role; }
  ~MetaAs() { meta_role = before_; }
  MetaAs(const MetaAs&) = delete;
  MetaAs& operator=(const MetaAs&) = delete;

 private:
  MetaRole before_;
};

/// True for tensors that lie on the CPU, and for those on meta that stand for such.
inline bool is_cpu_or_stands_for_it(const at::Tensor& t) {
  return t.device().is_cpu() || (t.is_meta() && meta_role == MetaRole::kCpu);
}
inline bool stands_for_cuda(const at::Tensor& t) {
  return t.is_meta() && meta_role == MetaRole::kCuda;
}

}  // namespace foxhunt::nn
