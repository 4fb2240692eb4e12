#pragma once
// A whole model as one step reads it: features in, answer out, one token at a time.
//
//   r = W_in x + b          r <- r + W_out q gain     a layer: layer_step.h        out = W_head r
//   gain + b
//
// Weights of RMS norms are multiplied into the matrix behind them, and 1 / rms comes in as a factor
// of the product, so that no product waits for its norm. One block of memory holds all weights in
// the order in which a step reads them.

#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/kernels/step/aligned_block.h"
#include "foxhunt/kernels/step/step_kernels.h"
#include "foxhunt/kernels/step/step_weights.h"

namespace foxhunt::kernels {

/// Immutable; shared by any number of streams.
class StepNetwork {
 public:
  /// `projections` multiplies in_proj and out_proj; input and head stay float32.
  /// Errors  ConfigError: a weight that `projections` cannot hold (not finite, beyond a half).
  StepNetwork(const StepShape& shape, std::int64_t n_features, std::int64_t n_outputs,
              const StepWeights& weights, const StepKernels& kernels,
              const ProductKernel& projections);

  const StepShape& shape() const { return shape_; }
  std::int64_t n_features() const { return input_.in; }
  std::int64_t n_outputs() const { return head_.out; }
  const StepKernels& kernels() const { return *kernels_; }
  const ProductKernel& projections() const { return *projections_; }
  std::int64_t weight_bytes() const { return weight_bytes_; }  ///< read by a step
  std::int64_t state_bytes() const;                            ///< of a stream: state and windows

 private:
  friend class StepStream;
  struct Layer {
    PackedMatrix in_proj, out_proj;
    StepCore core;
  };
  StepShape shape_;
  const StepKernels* kernels_;
  const ProductKernel* projections_;
  PackedMatrix input_, head_;
  std::vector<Layer> layers_;
  std::int64_t weight_bytes_ = 0;
  AlignedBlock block_;
};

/// The memory of one stream, taken at once.
class StepStream {
 public:
  /// `network` outlives the stream.
  explicit StepStream(const StepNetwork& network);
  StepStream(const StepStream& other);
  StepStream(StepStream&&) noexcept = default;
  StepStream& operator=(StepStream&&) noexcept = default;
  StepStream& operator=(const StepStream& other);
  ~StepStream() = default;

  /// Where the next row [F] goes.
  std::span<float> features() noexcept;
  /// The answer [K] of the row in features(). Reads the state only. Valid until the next answer.
  std::span<const float> answer() noexcept;
  /// Takes that row into the state. Call it once after each answer().
  void advance() noexcept;
  /// answer() and advance(), layer by layer: the same bits, each layer's state while it is at hand.
  std::span<const float> step() noexcept;
  /// What answer() or step() gave last.
  std::span<const float> last() const noexcept;
  void reset() noexcept;

  /// State and windows, oldest input first, as floats: the whole memory of the past.
  std::int64_t state_size() const noexcept;
  void save(std::span<float> out) const noexcept;
  void restore(std::span<const float> in) noexcept;
  std::int64_t position() const noexcept { return position_; }  ///< rows since the last reset
  void set_position(std::int64_t position) noexcept { position_ = position; }

  /// step() of up to kMostStreams streams of one network at once: the weights are read once. The
  /// same bits as one by one.
  static void step_together(std::span<StepStream* const> streams) noexcept;

 private:
  void carve();
  void move_on() noexcept;
  template <class F>
  void each_part(F&& part) const noexcept;
  void each_layer(LayerAnswerFn core) noexcept;
  const StepNetwork* network_;
  AlignedBlock block_;
  std::vector<StepMemory> layers_;
  float *input_ = nullptr, *residual_ = nullptr, *output_ = nullptr;
  void* scratch_ = nullptr;
  std::int64_t position_ = 0;
  std::int64_t oldest_ = 0;
};

}  // namespace foxhunt::kernels
