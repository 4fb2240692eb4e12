#pragma once
// Sums over rows of what one layer's state does, in float64 on plain memory. Torch-free.
//
// Runs the recurrence once more, row by row, so that every C_n S[:, n] is seen by itself. Cost:
// rows x H x P x N x (2 + probes) multiply-adds.

#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/state_usage.h"
#include "foxhunt/nn/step_size_counts.h"

namespace foxhunt::nn {

/// Consecutive rows of one stream, row-major.
struct LayerRows {
  std::span<const double> xbc;    ///< [T, d_inner + 2 G N] behind convolution and SiLU
  std::span<const double> dt;     ///< [T, H] after the limits
  std::span<const double> state;  ///< [H, P, N] in front of the first row
  /// [probes][T, H, P]: gradients by y of z^T out, with z random and E(z z^T) = H over all rows of
  /// the piece, so that the mean square of d(z^T out) / d m is what state_usage.h asks for.
  std::vector<std::span<const double>> dy;
};

class LayerUsageSums {
 public:
  /// rate [H]: |A|. skip [H]: D, or empty.
  LayerUsageSums(const model::Mamba2Config& config, std::vector<double> rate,
                 std::vector<double> skip);

  /// Errors  ShapeError when a length does not fit.
  void add(const LayerRows& rows);
  LayerUsage result() const;

 private:
  void check(const LayerRows& rows) const;
  void add_head(const LayerRows& rows, std::int64_t head, std::vector<double>& column_slopes);
  HeadUsage head_result(std::size_t head, double layer_energy) const;

  /// Of one head: sums of y^2, of its state's and its skip's part, and of squared slopes.
  struct HeadSums {
    double energy = 0, state = 0, skip = 0, slopes = 0;
  };
  std::int64_t H_, P_, G_, N_;
  std::vector<double> rate_;
  std::vector<double> skip_;
  std::vector<StepSizeCounts> steps_;  ///< [H]
  std::vector<HeadSums> heads_;        ///< [H]
  std::vector<double> column_energy_;  ///< [G, N] sums of (C_n S[:, n])^2
  std::vector<double> column_slopes_;  ///< [G, N] sums of squared slopes
  double weight_ = 0;                  ///< rows x probes
};

}  // namespace foxhunt::nn
