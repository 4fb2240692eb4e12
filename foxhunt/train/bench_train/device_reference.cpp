#include "foxhunt/train/bench_train/device_reference.h"

#include <ATen/ATen.h>

#include "foxhunt/nn/device_check.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kSide = 2048;                ///< of the square matrices, float32
constexpr std::int64_t kElements = 16 * (1 << 20);  ///< copied: more than a GPU's second cache

}  // namespace

struct DeviceReference::Tensors {
  at::Tensor a, b, c, from, to;
};

DeviceReference::DeviceReference(const nn::DeviceSpec& device) {
  const at::TensorOptions options = at::TensorOptions(at::kFloat).device(nn::at_device(device));
  tensors_ = std::make_unique<Tensors>(
      Tensors{at::ones({kSide, kSide}, options), at::ones({kSide, kSide}, options),
              at::zeros({kSide, kSide}, options), at::ones({kElements}, options),
              at::zeros({kElements}, options)});
}
DeviceReference::~DeviceReference() = default;

void DeviceReference::run() {
  at::mm_out(tensors_->c, tensors_->a, tensors_->b);
  tensors_->to.copy_(tensors_->from);
}

void DeviceReference::wait() { tensors_->to[0].item<float>(); }

std::int64_t DeviceReference::bytes() const {
  std::int64_t sum = 0;
  for (const at::Tensor& t : {tensors_->a, tensors_->b, tensors_->c, tensors_->from, tensors_->to})
    sum += static_cast<std::int64_t>(t.nbytes());
  return sum;
}

}  // namespace foxhunt::train
