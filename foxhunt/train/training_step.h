#pragma once
// One optimiser step, in parts that stay on the model's device.
//
// accumulate() and the optimiser move nothing between devices. What crosses is declared here:
// upload() brings a batch to the device, and a ScalarReader brings the step's two numbers (loss,
// gradient norm) to the host.

#include <ATen/core/Tensor.h>

#include <functional>
#include <span>
#include <vector>

#include "foxhunt/train/losses.h"
#include "foxhunt/train/sequence_model.h"
#include "foxhunt/train/train_config.h"
#include "foxhunt/train/windows.h"

namespace foxhunt::train {

/// Weight of each class; empty: 1 each, and for heads without classes.
using ClassWeights = std::vector<double>;
/// N / (K n_c) over the labelled rows of a part; a class without rows gets 0.
ClassWeights balanced_class_weights(std::span<const Sequence> sequences, const Split& split,
                                    Part part);

/// Some windows of a batch on the model's device.
struct DeviceBatch {
  at::Tensor x;  ///< [B, T, F] float32
  Targets targets;
};
/// Windows [from, from + count) of the batch. On the CPU the memory is the batch's own: it must
/// outlive the result.
DeviceBatch upload(const Batch& batch, std::int64_t from, std::int64_t count,
                   const ClassWeights& weights, at::Device device);
/// Sum of the loss weights of a batch: what its losses are divided by.
double weight_sum(const Batch& batch, const ClassWeights& weights);

/// Forward and backward; adds the gradients of loss_sum / divisor. The answer is that loss,
/// detached, on the device.
at::Tensor accumulate(SequenceModel& model, const DeviceBatch& batch, double divisor,
                      Precision precision);

/// Brings a small float tensor to the host: the one transfer back of a step.
using ScalarReader = std::function<std::vector<double>(const at::Tensor&)>;
std::vector<double> read_scalars(const at::Tensor& tensor);

/// While one lives, matrix products of `device` run in bfloat16 (Precision::kBf16), or nothing
/// changes (kFp32).
class AutocastGuard {
 public:
  AutocastGuard(at::Device device, Precision precision);
  ~AutocastGuard();
  AutocastGuard(const AutocastGuard&) = delete;
  AutocastGuard& operator=(const AutocastGuard&) = delete;

 private:
  at::DeviceType type_;
  bool active_;
};

}  // namespace foxhunt::train
