#include "foxhunt/train/step_program.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <optional>

#include "foxhunt/base/rng.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/lanes.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/team.h"
#include "foxhunt/train/training_step.h"

namespace foxhunt::train {
namespace {

Batch made_up(const StepSpec& spec) {
  Rng rng(7);
  Rng values = rng.split("values");
  const bool classes = spec.head.kind == model::HeadKind::kClassification;
  Batch batch;
  batch.B = spec.batch;
  batch.T = spec.tokens;
  batch.F = spec.head.n_features;
  for (std::int64_t i = 0; i < batch.B * batch.T; ++i) {
    for (std::int64_t f = 0; f < batch.F; ++f)
      batch.features.push_back(static_cast<float>(rng.normal()));
    batch.classes.push_back(classes ? static_cast<std::int64_t>(rng.below(
                                          static_cast<std::uint64_t>(spec.head.n_classes)))
                                    : 0);
    batch.values.push_back(classes ? 0.0F : static_cast<float>(values.normal()));
    batch.mask.push_back(1.0F);
  }
  return batch;
}

c10::DeviceAllocator& allocator_of(const nn::DeviceSpec& device) {
  return *c10::getDeviceAllocator(nn::at_device(device).type());
}

}  // namespace

struct StepProgram::Parts {
  explicit Parts(const StepSpec& s)
      : spec(s),
        model(s.model, s.head, nn::at_device(s.device)),
        sequence(model, s.train.a_min, s.train.a_max) {
    at::set_num_threads(static_cast<int>(spec.threads));
    model.initialise(1);
    model.use_kernels(spec.train.kernels);
    optimizer.emplace(sequence.parameters(), spec.train.optimizer);
    lanes.emplace(sequence, *optimizer, spec.train.lanes, spec.batch, spec.threads);
    batch = made_up(spec);
  }

  at::Tensor slice_loss(SequenceModel& lane, std::int64_t begin, std::int64_t end, double divisor) {
    const std::int64_t micro = spec.train.micro_batch > 0 ? spec.train.micro_batch : end - begin;
    at::Tensor loss;
    for (std::int64_t from = begin; from < end; from += micro) {
      const DeviceBatch part = upload(batch, from, std::min(micro, end - from), {}, lane.device());
      const at::Tensor more = accumulate(lane, part, divisor, spec.train.precision);
      loss = loss.defined() ? loss + more : more;
    }
    return loss;
  }

  double step() {
    // Lanes are the threads of the one program, operations of the other, as in training.
    at::set_num_threads(lanes->size() == 1 ? static_cast<int>(spec.threads) : 1);
    optimizer->zero_grad();
    const double divisor = weight_sum(batch, {});
    const std::vector<at::Tensor> losses =
        lanes->run_slices(batch.B, [&](SequenceModel& lane, std::int64_t begin, std::int64_t end) {
          return slice_loss(lane, begin, end, divisor);
        });
    const at::Tensor loss = Team().sum_of_lanes(losses, lanes->total(), lanes->used(batch.B));
    const at::Tensor norm = optimizer->grad_norm();
    const std::vector<double> host = read_scalars(at::stack({loss.to(norm.scalar_type()), norm}));
    optimizer->clip(norm);
    optimizer->step(spec.lr);
    sequence.after_step();
    return host[0];
  }

  StepSpec spec;
  nn::Mamba2SSM model;
  Mamba2SequenceModel sequence;
  std::optional<Optimizer> optimizer;
  std::optional<Lanes> lanes;
  Batch batch;
};

StepProgram::StepProgram(const StepSpec& spec) : parts_(std::make_unique<Parts>(spec)) {}
StepProgram::~StepProgram() = default;
double StepProgram::step() { return parts_->step(); }
nn::Kernels StepProgram::kernels_in_use() const { return parts_->model.kernels_in_use(); }
std::int64_t StepProgram::lanes() const { return parts_->lanes->size(); }
std::int64_t StepProgram::parameters() const {
  return parts_->model.performance_metrics().parameters;
}

void start_gpu_peak(const nn::DeviceSpec& device) {
  c10::DeviceAllocator& allocator = allocator_of(device);
  if (!allocator.initialized()) return;  // nothing was ever allocated there
  allocator.emptyCache();
  allocator.resetPeakStats(static_cast<c10::DeviceIndex>(device.index));
}

std::int64_t gpu_peak_bytes(const nn::DeviceSpec& device) {
  c10::DeviceAllocator& allocator = allocator_of(device);
  if (!allocator.initialized()) return -1;
  using c10::CachingAllocator::StatType;
  return allocator.getDeviceStats(static_cast<c10::DeviceIndex>(device.index))
      .allocated_bytes[static_cast<std::size_t>(StatType::AGGREGATE)]
      .peak;
}

GpuMemory gpu_memory(const nn::DeviceSpec& device) {
  // An allocation makes the allocator ready.
  const at::Tensor probe = at::empty({1}, at::TensorOptions(nn::at_device(device)));
  const auto [free, total] =
      allocator_of(device).getMemoryInfo(static_cast<c10::DeviceIndex>(device.index));
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

}  // namespace foxhunt::train
