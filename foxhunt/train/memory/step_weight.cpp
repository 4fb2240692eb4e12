#include "foxhunt/train/memory/step_weight.h"

#include <ATen/ATen.h>
#include <c10/core/Allocator.h>

#include <algorithm>
#include <mutex>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/nn/meta_as.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/optimizer.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {
namespace {

/// LibTorch's allocator on CUDA hands out multiples of this.
constexpr std::int64_t kCudaBlock = 512;

/// Of this thread: tensors on meta live and die where they were made.
thread_local std::int64_t meta_now = 0;
thread_local std::int64_t meta_peak = 0;
thread_local std::int64_t meta_block = 1;  ///< sizes are multiples of it; 0: nothing counts

std::int64_t counted(std::int64_t bytes) {
  return meta_block == 0 ? 0 : (bytes + meta_block - 1) / meta_block * meta_block;
}

/// Tensors on meta have no memory; this one remembers how much each would have.
class MetaCounter final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const std::int64_t size = counted(static_cast<std::int64_t>(bytes));
    meta_now += size;
    meta_peak = std::max(meta_peak, meta_now);
    return {nullptr, new std::int64_t(size), &forget, c10::Device(c10::DeviceType::Meta)};
  }
  void copy_data(void*, const void*, std::size_t) const override {}

 private:
  static void forget(void* size) {
    auto* counted = static_cast<std::int64_t*>(size);
    meta_now -= *counted;
    delete counted;
  }
};

void count_meta_tensors() {
  static const bool done = [] {
    c10::SetAllocator(c10::DeviceType::Meta, new MetaCounter, /*priority=*/100);
    return true;
  }();
  static_cast<void>(done);
}

/// The most that f() has above what there was before it.
template <class F>
std::int64_t peak_above(F&& f) {
  const std::int64_t before = meta_now;
  meta_peak = meta_now;
  f();
  return meta_peak - before;
}

at::TensorOptions meta(at::ScalarType dtype) { return at::TensorOptions(at::kMeta).dtype(dtype); }

class Scale {
 public:
  explicit Scale(const WeighedStep& what)
      : what_(what),
        model_(what.hyper.to_model_config(), what.head, at::Device(at::kMeta)),
        sequence_model_(model_, what.hyper.train.a_min, what.hyper.train.a_max) {
    model_.use_kernels(what.hyper.train.kernels);
    model_.recompute_blocks(what.hyper.train.recompute == Recompute::kBlocks);
  }

  StepWeight weigh() {
    StepWeight w;
    const std::int64_t empty = meta_now - parameter_bytes();
    Optimizer optimizer(sequence_model_.parameters(), what_.hyper.train.optimizer);
    w.model_and_optimizer = meta_now - empty;
    w.kept = kept();
    const std::int64_t before = meta_now;
    w.step = peak_above([&] { step(); });
    w.gradients = meta_now - before;
    w.later_step = w.gradients + peak_above([&] { step(); });
    if (what_.cuda) w.update = peak_above([&] { update(optimizer); });
    optimizer.zero_grad();
    w.validation = peak_above([&] {
      const at::NoGradGuard no_grad;
      const DeviceBatch one = batch(1, what_.whole_tokens);
      loss_sum(sequence_model_.answer(one.x), one.targets, what_.head);
    });
    w.health = peak_above([&] { examine(model_, batch(1, what_.whole_tokens).x); });
    return w;
  }

  std::int64_t kept() {
    const DeviceBatch one = batch(what_.rows, what_.tokens);
    const AutocastGuard autocast(at::Device(at::kCPU), what_.hyper.train.precision);
    const std::int64_t before = meta_now;
    const at::Tensor loss = loss_sum(sequence_model_.forward(one.x), one.targets, what_.head) / 2.0;
    return meta_now - before;
  }

 private:
  std::int64_t parameter_bytes() {
    std::int64_t bytes = 0;
    for (const auto& [name, tensor] : sequence_model_.parameters())
      bytes +=
          (static_cast<std::int64_t>(tensor.nbytes()) + meta_block - 1) / meta_block * meta_block;
    return bytes;
  }

  /// Counted on a GPU alone: on the CPU a batch's tensors are views of the host's own memory, but
  /// for weights by class.
  DeviceBatch batch(std::int64_t rows, std::int64_t tokens) {
    const std::int64_t block = meta_block;
    if (!what_.cuda) meta_block = 0;
    DeviceBatch b{at::empty({rows, tokens, what_.head.n_features}, meta(at::kFloat)),
                  {at::empty({rows, tokens}, meta(at::kLong)),
                   at::empty({rows, tokens}, meta(at::kFloat)), at::Tensor()}};
    if (what_.hyper.train.class_weights) meta_block = block;
    b.targets.weights = at::empty({rows, tokens}, meta(at::kFloat));
    meta_block = block;
    return b;
  }

  void step() {
    const AutocastGuard autocast(at::Device(at::kCPU), what_.hyper.train.precision);
    accumulate(sequence_model_, batch(what_.rows, what_.tokens), 2.0, Precision::kFp32);
  }

  void update(Optimizer& optimizer) {
    optimizer.clip(optimizer.grad_norm());
    optimizer.step(1e-3);
    sequence_model_.after_step();
  }

  const WeighedStep& what_;
  nn::Mamba2SSM model_;
  Mamba2SequenceModel sequence_model_;
};

}  // namespace

StepWeight weigh_step(const WeighedStep& what) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  count_meta_tensors();
  meta_block = what.cuda ? kCudaBlock : 1;
  const nn::MetaAs as(what.cuda ? nn::MetaRole::kCuda : nn::MetaRole::kCpu);
  StepWeight w = Scale(what).weigh();
  // Every layer keeps the same: two models of one and two layers tell how much.
  Mamba2Hyperparameters small = what.hyper;
  WeighedStep less{small, what.head, what.cuda, what.rows, what.tokens, what.whole_tokens};
  std::int64_t kept[2] = {};
  for (const std::int64_t layers : {1, 2}) {
    small.model.n_layer = layers;
    kept[layers - 1] = Scale(less).kept();
  }
  w.kept_a_layer = kept[1] - kept[0];
  return w;
}

}  // namespace foxhunt::train
