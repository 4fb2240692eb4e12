#include "foxhunt/nn/parts.h"

#include <ATen/autocast_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/linear.h>

#include "foxhunt/nn/meta_as.h"
#include "foxhunt/nn/ops/linear.h"
#include "foxhunt/nn/ops/rms_norm.h"

namespace foxhunt::nn {
namespace {

at::Tensor optional_bias(torch::nn::Module& module, bool with_bias, std::int64_t width,
                         const at::TensorOptions& options) {
  return with_bias ? module.register_parameter("bias", at::empty({width}, options)) : at::Tensor();
}

/// Meta has no autocast: what it would do to a product, by hand.
at::Tensor linear_as_under_autocast(const at::Tensor& x, const at::Tensor& weight,
                                    const at::Tensor& bias) {
  const at::ScalarType narrow = at::autocast::get_autocast_dtype(at::kCPU);
  return at::linear(x.to(narrow), weight.to(narrow), bias.defined() ? bias.to(narrow) : bias);
}

}  // namespace

LinearPart::LinearPart(std::int64_t in, std::int64_t out, bool with_bias,
                       const at::TensorOptions& options)
    : weight(register_parameter("weight", at::empty({out, in}, options))),
      bias(optional_bias(*this, with_bias, out, options)) {}

at::Tensor LinearPart::operator()(const at::Tensor& x) const {
  if (kernels == Kernels::kNative && has_linear_kernel(x)) return linear(x, weight, bias);
  if (x.is_meta() && meta_role != MetaRole::kNone && at::autocast::is_autocast_enabled(at::kCPU)) {
    return linear_as_under_autocast(x, weight, bias);
  }
  return at::linear(x, weight, bias);
}

ConvPart::ConvPart(std::int64_t channels, std::int64_t width, bool with_bias,
                   const at::TensorOptions& options)
    : weight(register_parameter("weight", at::empty({channels, 1, width}, options))),
      bias(optional_bias(*this, with_bias, channels, options)) {}

NormPart::NormPart(std::int64_t width, const at::TensorOptions& options)
    : weight(register_parameter("weight", at::empty({width}, options))) {}

at::Tensor NormPart::operator()(const at::Tensor& x, double eps) const {
  if (kernels == Kernels::kNative && has_rms_norm_kernel(x)) {
    return rms_norm_native(x, weight, eps);
  }
  return rms_norm(x, weight, eps, 1);
}

EmbeddingPart::EmbeddingPart(std::int64_t tokens, std::int64_t width,
                             const at::TensorOptions& options)
    : weight(register_parameter("weight", at::empty({tokens, width}, options))) {}

}  // namespace foxhunt::nn
