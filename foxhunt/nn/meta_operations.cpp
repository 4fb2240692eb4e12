#include "foxhunt/nn/meta_operations.h"

#include <ATen/ExpandUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/result_type.h>
#include <torch/library.h>

namespace foxhunt::nn {
namespace {

at::Tensor where(const at::Tensor& condition, const at::Tensor& a, const at::Tensor& b) {
  const auto shape = at::infer_size(at::infer_size(condition.sizes(), a.sizes()), b.sizes());
  return at::empty(shape, at::TensorOptions(at::kMeta).dtype(at::result_type(a, b)));
}

}  // namespace

struct MetaOperations::Registration {
  torch::Library library{torch::Library::IMPL, "aten", c10::DispatchKey::Meta, __FILE__, __LINE__};
};

MetaOperations::MetaOperations() : registration_(std::make_unique<Registration>()) {
  registration_->library.impl("where.self", &where);
}

MetaOperations::~MetaOperations() = default;

}  // namespace foxhunt::nn
