#pragma once
// A training step by itself, for benchmarks: a model with its optimiser and lanes, fed the same
// made-up batch over and over. Torch-free.

#include <cstdint>
#include <memory>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/train/train_config.h"

namespace foxhunt::train {

struct StepSpec {
  model::Mamba2Config model{};
  model::HeadConfig head{};
  std::int64_t batch = 1;
  std::int64_t tokens = 1;  ///< rows of a window
  nn::DeviceSpec device{};
  std::int64_t threads = 1;  ///< of the CPU
  TrainConfig train{};       ///< kernels, precision, lanes, micro_batch, limits of A, optimiser
  double lr = 1e-3;
};

class StepProgram {
 public:
  /// Weights and batch are the same for the same spec. Errors  ConfigError; std::exception of
  /// LibTorch where memory does not suffice.
  explicit StepProgram(const StepSpec& spec);
  ~StepProgram();
  StepProgram(const StepProgram&) = delete;
  StepProgram& operator=(const StepProgram&) = delete;

  /// Upload, forward, loss, backward, gradient norm, clipping, AdamW, limits of A. The loss. On a
  /// GPU it returns once loss and norm are there; what follows them runs into the next step.
  double step();
  nn::Kernels kernels_in_use() const;
  std::int64_t lanes() const;
  std::int64_t parameters() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

/// Starts over the count of a GPU's peak memory, and what its allocator has held since, in bytes.
void start_gpu_peak(const nn::DeviceSpec& device);
std::int64_t gpu_peak_bytes(const nn::DeviceSpec& device);
/// Memory of a GPU: free now, and in all.
struct GpuMemory {
  std::int64_t free = 0, total = 0;
};
GpuMemory gpu_memory(const nn::DeviceSpec& device);

}  // namespace foxhunt::train
