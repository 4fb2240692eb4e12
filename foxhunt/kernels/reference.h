#pragma once
// A Mamba-2 layer in float64, one token at a time, written from its definition: the judge of every
// faster form.
//
// Plain loops over one stream; no library, no shared code with what it judges.

#include <cstdint>
#include <limits>
#include <vector>

namespace foxhunt::kernels {

/// Sizes and options of a layer: D d_model, P headdim, N d_state, G groups, W conv width, d_inner =
/// H P.
struct ReferenceShape {
  enum class Norm { kGateFirst, kNormFirst, kNone };

  std::int64_t d_model = 0;
  std::int64_t heads = 0;
  std::int64_t headdim = 0;
  std::int64_t groups = 1;  ///< divides heads
  std::int64_t d_state = 0;
  std::int64_t d_conv = 4;
  double dt_min = 0.0;
  double dt_max = std::numeric_limits<double>::infinity();
  double eps = 1e-5;
  Norm norm = Norm::kGateFirst;

  std::int64_t d_inner() const { return heads * headdim; }
  std::int64_t channels() const { return d_inner() + 2 * groups * d_state; }
  std::int64_t proj_width() const { return d_inner() + channels() + heads; }
};

/// Row-major, as in checkpoints. An empty vector: the layer has no such parameter.
struct ReferenceWeights {
  std::vector<double> in_proj_weight;   ///< [proj_width, D]: rows z, x, B, C, dt
  std::vector<double> in_proj_bias;     ///< [proj_width] or empty
  std::vector<double> conv_weight;      ///< [channels, W], the last tap meets the newest token
  std::vector<double> conv_bias;        ///< [channels] or empty
  std::vector<double> dt_bias;          ///< [H]
  std::vector<double> a_log;            ///< [H]
  std::vector<double> d;                ///< [H] or empty
  std::vector<double> norm_weight;      ///< [d_inner], empty with Norm::kNone
  std::vector<double> out_proj_weight;  ///< [D, d_inner]
  std::vector<double> out_proj_bias;    ///< [D] or empty
};

/// One stream's memory. Zeros before the first token.
struct ReferenceState {
  explicit ReferenceState(const ReferenceShape& shape);
  std::vector<double> conv;  ///< [channels, W] raw inputs of the convolution, newest last
  std::vector<double> ssm;   ///< [H, P, N]
};

struct ReferenceOutput {
  std::vector<double> out;  ///< [D]
  std::vector<double> y;    ///< [H, P] of the state space, before gate and norm
  std::vector<double> dt;   ///< [H] after the limits
};

/// Advances `state` by one token u [D].
/// Errors  ShapeError naming the vector whose size does not fit `shape`, or a shape that does not
/// divide.
ReferenceOutput reference_step(const ReferenceShape& shape, const ReferenceWeights& weights,
                               const std::vector<double>& u, ReferenceState& state);

}  // namespace foxhunt::kernels
