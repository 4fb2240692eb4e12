#pragma once
// Measures which parts of its state a model uses, on rows that stream by (state_usage.h).
//
// Each stream is taken in pieces, the state carried on. For a piece, random signs r give a
// direction z = F r with F F^T = H, and one backward pass gives the slope of z^T out by every mask
// at once: its mean square is twice the importance. So the importance is an estimate whose relative
// error is about sqrt(2 / (pieces x probes)); the ends of pieces cut what a column does to later
// layers' states behind them. Everything else (contributions, step sizes, memory) is exact.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/nn/layer_usage_sums.h"
#include "foxhunt/nn/mamba2.h"

namespace foxhunt::nn {

struct UsageOptions {
  std::int64_t piece = 128;  ///< rows of a stream at a time
  std::int64_t probes = 8;   ///< backward passes a piece
};

class StateUsageRecorder {
 public:
  /// The model must outlive the recorder; its weights must not change meanwhile.
  /// Errors  ConfigError: options below 1. DeviceError: a model on the meta device.
  StateUsageRecorder(Mamba2SSM& model, const Rng& rng, const UsageOptions& options = {});

  /// x [B, T, F] (tokens: [B, T]) as forward() takes it: B streams from their start, without
  /// padding. Adds no gradient to the parameters. Errors  as forward().
  void add(const at::Tensor& x);
  std::int64_t rows() const { return rows_; }
  StateUsage result() const;

 private:
  at::Tensor direction(const at::Tensor& out);

  Mamba2SSM& model_;
  Rng rng_;
  UsageOptions options_;
  std::vector<LayerUsageSums> layers_;
  std::int64_t rows_ = 0;
};

}  // namespace foxhunt::nn
