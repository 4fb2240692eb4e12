#include "foxhunt/nn/performance.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "foxhunt/model/tensor_list.h"

namespace foxhunt::nn {
namespace {

/// One layer, one token: the projections, the convolution, the state and the gate.
std::int64_t layer_flops(const model::Mamba2Config& c) {
  const std::int64_t state = c.n_heads() * c.headdim * c.d_state;
  const std::int64_t projections = 2 * c.d_model * c.in_proj_width() + 2 * c.d_inner() * c.d_model;
  const std::int64_t convolution = 2 * c.conv_channels() * c.d_conv;
  const std::int64_t recurrence =
      5 * state + 2 * c.d_inner();  // decay, input, add; dot with C; skip
  const std::int64_t gate_and_norm = 6 * c.d_inner() + 4 * c.d_model;
  return projections + convolution + recurrence + gate_and_norm;
}

}  // namespace

PerformanceMetrics step_cost(const model::Mamba2Config& config, const model::HeadConfig& head,
                             std::int64_t value_bytes) {
  PerformanceMetrics metrics;
  metrics.parameters = model::parameter_count(config, head);
  metrics.state_values = config.n_layer * (config.n_heads() * config.headdim * config.d_state +
                                           config.conv_channels() * config.d_conv);
  const bool tokens = head.kind == model::HeadKind::kTokens;
  // An embedding is looked up: one row of it moves, unless it is the head as well.
  const std::int64_t unread = tokens && !head.tied ? (head.n_features - 1) * config.d_model : 0;
  metrics.bytes_per_step = value_bytes * (metrics.parameters - unread + 2 * metrics.state_values);
  metrics.flops_per_step = config.n_layer * layer_flops(config) +
                           2 * config.d_model * head.n_outputs() +
                           (tokens ? 0 : 2 * head.n_features * config.d_model);
  return metrics;
}

void LatencyRecorder::record(std::int64_t nanoseconds) noexcept {
  ring_[static_cast<std::size_t>(count_) % kWindow] = nanoseconds;
  ++count_;
}

std::size_t LatencyRecorder::size() const noexcept {
  return std::min(static_cast<std::size_t>(count_), kWindow);
}

double LatencyRecorder::percentile_us(double q) const {
  const std::size_t n = size();
  if (n == 0) return 0.0;
  std::vector<std::int64_t> sorted(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(n));
  const auto rank = static_cast<std::size_t>(std::ceil(q * static_cast<double>(n)));
  const auto place =
      sorted.begin() + static_cast<std::ptrdiff_t>(std::min(n, std::max<std::size_t>(rank, 1)) - 1);
  std::nth_element(sorted.begin(), place, sorted.end());
  return static_cast<double>(*place) / 1e3;
}

double LatencyRecorder::mean_us() const {
  const std::size_t n = size();
  if (n == 0) return 0.0;
  const double sum =
      std::accumulate(ring_.begin(), ring_.begin() + static_cast<std::ptrdiff_t>(n), 0.0);
  return sum / static_cast<double>(n) / 1e3;
}

}  // namespace foxhunt::nn
