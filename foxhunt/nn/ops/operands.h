#pragma once
// Tensors as the CPU kernels take them. For the .cpp files of this folder.

#include <ATen/core/Tensor.h>

#include <cmath>
#include <optional>
#include <vector>

#include "foxhunt/kernels/chunk_plan.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/linear.h"
#include "foxhunt/kernels/mixer.h"
#include "foxhunt/nn/ops/mixer.h"

namespace foxhunt::nn {

using OptionalTensor = std::optional<at::Tensor>;
inline OptionalTensor optional_of(const at::Tensor& t) {
  return t.defined() ? OptionalTensor(t) : std::nullopt;
}
inline at::Tensor tensor_of(const OptionalTensor& t) { return t.value_or(at::Tensor()); }
inline at::Tensor contiguous_or_none(const OptionalTensor& t) {
  return t ? t->contiguous() : at::Tensor();
}

template <class T>
const T* data(const at::Tensor& t) {
  return t.defined() ? t.const_data_ptr<T>() : nullptr;
}
template <class T>
T* mutable_data(const at::Tensor& t) {
  return t.defined() ? t.mutable_data_ptr<T>() : nullptr;
}

/// The CPU's products in float32, or rounded to bf16.
inline kernels::Products products_of(bool bf16) {
  return {kernels::default_kernels<float>(), bf16 ? &kernels::default_bf16_kernels() : nullptr};
}

/// A mixer's weights: the convolution tap by tap, A from its logarithm.
template <class T>
class MixerOperands {
 public:
  MixerOperands(const kernels::MixerShape& shape, const MixerTensors& t)
      : shape_(shape),
        conv_(at(shape.channels() * shape.width)),
        dconv_(conv_.size(), T(0)),
        A_(at(shape.ssd.heads)) {
    const T* weight = t.conv_weight.const_data_ptr<T>();
    each_tap([&](std::size_t ours, std::size_t theirs) { conv_[ours] = weight[theirs]; });
    const T* a_log = t.A_log.const_data_ptr<T>();
    for (std::size_t h = 0; h < A_.size(); ++h) A_[h] = -std::exp(a_log[h]);
    weights = {conv_.data(), data<T>(t.conv_bias), data<T>(t.dt_bias),
               A_.data(),    data<T>(t.D),         data<T>(t.norm)};
  }

  /// Where the kernels put the gradient of the convolution, [W, C].
  T* dconv() { return dconv_.data(); }
  /// From the kernels' gradients: dconv() as [C, 1, W], and dA in place to the gradient of A_log
  /// (A = -exp(A_log) is its own derivative).
  void finish(T* conv_weight, T* a_log) const {
    each_tap([&](std::size_t ours, std::size_t theirs) { conv_weight[theirs] = dconv_[ours]; });
    for (std::size_t h = 0; h < A_.size(); ++h) a_log[h] *= A_[h];
  }

  kernels::MixerWeights<T> weights{};

 private:
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  template <class F>
  void each_tap(F&& f) const {
    for (std::int64_t c = 0; c < shape_.channels(); ++c) {
      for (std::int64_t k = 0; k < shape_.width; ++k) {
        f(at(k * shape_.channels() + c), at(c * shape_.width + k));
      }
    }
  }
  const kernels::MixerShape& shape_;
  std::vector<T> conv_, dconv_, A_;
};

/// The sizes and options of a mixer as saved_data can hold them.
inline std::vector<std::int64_t> sizes_of(const kernels::MixerShape& s) {
  return {s.ssd.heads,
          s.ssd.headdim,
          s.ssd.groups,
          s.ssd.d_state,
          s.width,
          s.chunk,
          static_cast<std::int64_t>(s.gate)};
}
inline std::vector<double> numbers_of(const kernels::MixerShape& s) {
  return {s.eps, s.dt_low, s.dt_high};
}
inline kernels::MixerShape mixer_shape(const std::vector<std::int64_t>& n,
                                       const std::vector<double>& x) {
  return {{n[0], n[1], n[2], n[3]}, n[4], n[5], static_cast<kernels::Gate>(n[6]), x[0], x[1], x[2]};
}

}  // namespace foxhunt::nn
