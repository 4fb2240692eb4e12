#pragma once
// A small problem with its answer in float64: what tests and the self-test hold the kernels to.
//
// The answer comes from the plain recurrence, token by token, and from back-propagation through it:
// no chunks, no shared code with what it judges.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/cuda/ssd_args.h"

namespace foxhunt::kernels::cuda {

/// Which values a trial's inputs can take, so that the kernels get them exactly.
enum class Grid { kFloat, kBf16 };

struct TrialOptions {
  bool skip = true;            ///< with D
  bool state = true;           ///< with a state before the window
  bool final_gradient = true;  ///< with a gradient of the state behind it
  bool segments = false;       ///< a boundary about every fifth token, rows alike in nothing
  double max_decay = 4.0;      ///< dt |A| is drawn up to this
  double min_decay = 1e-3;     ///< from this, evenly in the logarithm
};

/// Row-major, without gaps.
struct Trial {
  Shape shape{};
  Grid grid = Grid::kFloat;
  std::vector<double> x;               ///< [B, T, H, P]
  std::vector<double> B;               ///< [B, T, G, N]
  std::vector<double> C;               ///< [B, T, G, N]
  std::vector<double> dt;              ///< [B, T, H]
  std::vector<double> A;               ///< [H]
  std::vector<double> D;               ///< [H] or empty
  std::vector<double> state;           ///< [B, H, P, N] or empty
  std::vector<std::int64_t> segments;  ///< [B, T] or empty
  std::vector<double> dy;              ///< [B, T, H, P]
  std::vector<double> dfinal_state;    ///< [B, H, P, N] or empty
};

Trial make_trial(const Shape& shape, Grid grid, const TrialOptions& options, Rng rng);

/// What forward and backward pass give. Empty: there is none.
struct Answers {
  std::vector<double> y, final_state, dx, dB, dC, ddt, dA, dD, dstate;
};

/// The truth. Cost  3 B T H P N values of memory.
Answers reference_answers(const Trial& trial);
/// y and final_state alone.
Answers reference_outputs(const Trial& trial);

/// How far two sets of answers lie apart.
struct Difference {
  std::string name;    ///< "dB"
  double error = 0.0;  ///< largest |got - want| / max(largest |want|, 0.05); infinite where got is
                       ///< not finite
};
std::vector<Difference> differences(const Answers& got, const Answers& want);

/// Rounded to bfloat16.
double to_bf16(double value);

}  // namespace foxhunt::kernels::cuda
