#include "foxhunt/train/training_step.h"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include "foxhunt/nn/declared_transfer.h"

namespace foxhunt::train {
namespace {

/// A view of host memory, or its copy on another device. The batch is read only: from_blob just
/// lacks a const form.
template <class T>
at::Tensor place(const std::vector<T>& values, std::int64_t from, at::IntArrayRef shape,
                 at::ScalarType dtype, at::Device device) {
  const at::Tensor host =
      at::from_blob(const_cast<T*>(values.data()) + from, shape, at::TensorOptions(dtype));
  return device.is_cpu() ? host : host.to(device);
}

double weight_of(const Batch& batch, std::size_t i, const ClassWeights& weights) {
  if (batch.mask[i] == 0.0F) return 0.0;
  return weights.empty() ? 1.0 : weights[static_cast<std::size_t>(batch.classes[i])];
}

}  // namespace

ClassWeights balanced_class_weights(std::span<const Sequence> sequences, const Split& split,
                                    Part part) {
  std::vector<double> counts(kClasses, 0.0);
  double total = 0;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
      if (split.parts[s][t] != part || sequences[s].labels.valid[t] == 0) continue;
      counts[static_cast<std::size_t>(sequences[s].labels.classes[t])] += 1.0;
      total += 1.0;
    }
  }
  ClassWeights weights;
  for (const double count : counts)
    weights.push_back(count > 0 ? total / (static_cast<double>(kClasses) * count) : 0.0);
  return weights;
}

double weight_sum(const Batch& batch, const ClassWeights& weights) {
  double sum = 0;
  for (std::size_t i = 0; i < batch.mask.size(); ++i) sum += weight_of(batch, i, weights);
  return sum;
}

DeviceBatch upload(const Batch& batch, std::int64_t from, std::int64_t count,
                   const ClassWeights& weights, at::Device device) {
  const nn::DeclaredTransfer declared("the batch to the device");
  const std::int64_t T = batch.T;
  DeviceBatch out;
  out.x = place(batch.features, from * T * batch.F, {count, T, batch.F}, at::kFloat, device);
  out.targets.classes = place(batch.classes, from * T, {count, T}, at::kLong, device);
  out.targets.values = place(batch.values, from * T, {count, T}, at::kFloat, device);
  if (weights.empty()) {
    out.targets.weights = place(batch.mask, from * T, {count, T}, at::kFloat, device);
  } else {
    at::Tensor host = at::empty({count, T}, at::TensorOptions(at::kFloat));
    float* place_in = host.mutable_data_ptr<float>();
    for (std::int64_t i = 0; i < count * T; ++i) {
      place_in[i] =
          static_cast<float>(weight_of(batch, static_cast<std::size_t>(from * T + i), weights));
    }
    out.targets.weights = device.is_cpu() ? host : host.to(device);
  }
  return out;
}

at::Tensor accumulate(SequenceModel& model, const DeviceBatch& batch, double divisor,
                      Precision precision) {
  at::Tensor outputs;
  {
    const AutocastGuard autocast(model.device(), precision);
    outputs = model.forward(batch.x);
  }
  const at::Tensor loss = loss_sum(outputs, batch.targets, model.head()) / divisor;
  loss.backward();
  return loss.detach();
}

std::vector<double> read_scalars(const at::Tensor& tensor) {
  const nn::DeclaredTransfer declared("scalars to the host");
  const at::Tensor host = tensor.detach().to(at::Device(at::kCPU), at::kDouble).contiguous();
  const double* values = host.const_data_ptr<double>();
  return {values, values + host.numel()};
}

AutocastGuard::AutocastGuard(at::Device device, Precision precision)
    : type_(device.type()), active_(precision == Precision::kBf16) {
  if (!active_) return;
  at::autocast::set_autocast_dtype(type_, at::kBFloat16);
  at::autocast::set_autocast_enabled(type_, true);
  at::autocast::increment_nesting();
}

AutocastGuard::~AutocastGuard() {
  if (!active_) return;
  if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
  at::autocast::set_autocast_enabled(type_, false);
}

}  // namespace foxhunt::train
