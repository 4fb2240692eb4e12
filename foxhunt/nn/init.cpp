#include "foxhunt/nn/init.h"

#include <ATen/ops/empty.h>

#include <cmath>

namespace foxhunt::nn {

void fill(const at::Tensor& tensor, const std::function<double()>& draw) {
  if (!tensor.defined() || tensor.is_meta()) return;
  const at::Tensor host = at::empty(tensor.sizes(), at::TensorOptions(at::kCPU).dtype(at::kFloat));
  float* values = host.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < host.numel(); ++i) values[i] = static_cast<float>(draw());
  tensor.detach().copy_(host);
}

void fill_constant(const at::Tensor& tensor, double value) {
  fill(tensor, [value] { return value; });
}

void fill_uniform(const at::Tensor& tensor, Rng rng, double bound) {
  fill(tensor, [&rng, bound] { return rng.uniform(-bound, bound); });
}

void fill_normal(const at::Tensor& tensor, Rng rng, double deviation) {
  fill(tensor, [&rng, deviation] { return deviation * rng.normal(); });
}

}  // namespace foxhunt::nn
