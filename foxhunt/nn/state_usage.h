#pragma once
// Which parts of the state a model uses: what is measured, in plain numbers. Torch-free.
//
// The state of a head is P rows by N columns. Column n of a group is written by B_n, read by C_n
// and shared by the heads of the group: it can be taken out as a whole (prune_state.h). With the
// masks m set to 1, head h answers  y_t = sum_n m_n C_n,t S_t[:, n] + D x_t.
//
// The importance of a column is
//     1/2 mean over rows of  (d out / d m_n)^T H (d out / d m_n),
// with H the second derivative of the loss by the model's outputs. It is the second-order estimate
// of how much the loss of a row rises when the column is taken out alone: in nats for
// classification (H = diag(p) - p p^T), half the squared error for regression (H = 1), half the
// mean squared move of the answers for quantiles (the pinball loss has no curvature). Three reasons
// for it:
//   * the mean first derivative of a trained model's loss is close to 0 in every direction,
//   whatever
//     the column does; this does not vanish there;
//   * it weighs what happens behind the state (gate, norm, later layers, head), which the size of
//     C_n S[:, n] alone does not;
//   * it asks for no labels, so that a ranking cannot fit to those that judge it.
// The importance of a head is the same with one mask on its whole y.

#include <cstdint>
#include <vector>

namespace foxhunt::nn {

/// Step sizes after their limits. Percentiles are nearest-rank, to 0.5 %; the ends are exact.
struct StepSizes {
  double min = 0;
  double p10 = 0;
  double median = 0;
  double p90 = 0;
  double max = 0;
  double at_limits = 0;  ///< share of them; such a step size has no gradient
};

struct HeadUsage {
  double importance = 0;
  double energy = 0;  ///< share of the sum of y^2 over the layer's heads
  double state_share =
      0;             ///< of the state in what the head answers: |state|^2 / (|state|^2 + |skip|^2)
  double rate = 0;   ///< |A|
  double decay = 1;  ///< of the state in a row, geometric mean: exp(-mean(dt |A|))
  /// Rows (bars) after which a past input has decayed to 1/e at the data's mean rate:
  /// 1 / mean(dt |A|); infinite where nothing decays.
  double memory = 0;
  StepSizes dt;
};

struct ColumnUsage {
  double importance = 0;
  double contribution = 0;  ///< rms of C_n S[:, n] over rms of y, both over the heads of the group
};

struct LayerUsage {
  std::vector<HeadUsage> heads;                   ///< [H]
  std::vector<std::vector<ColumnUsage>> columns;  ///< [G][N]
};

struct StateUsage {
  std::int64_t rows = 0;  ///< measured on
  std::vector<LayerUsage> layers;
};

/// Columns by layer and group, each list ascending, all of one length.
using ColumnChoice = std::vector<std::vector<std::vector<std::int64_t>>>;

/// The `d_state` most important columns of every layer and group. Of equally important ones the
/// larger contribution goes first, then the lower number.
/// Errors  ShapeError: d_state outside [1, N].
ColumnChoice most_important(const StateUsage& usage, std::int64_t d_state);

}  // namespace foxhunt::nn
