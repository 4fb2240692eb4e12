#pragma once
// What a model costs and how fast it has answered. Needs no Torch.

#include <array>
#include <cstddef>
#include <cstdint>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::nn {

struct PerformanceMetrics {
  std::int64_t parameters = 0;
  std::int64_t state_values = 0;    ///< of one stream, all layers: H P N + C W
  std::int64_t bytes_per_step = 0;  ///< moved: parameters once, state read and written
  std::int64_t flops_per_step = 0;  ///< one token of one stream; a multiply and an add are two
  std::int64_t predictions = 0;     ///< made by predict_single_fast since construction
  double p50_us = 0;  ///< over the last LatencyRecorder::kWindow predictions; 0 before the first
  double p99_us = 0;
  double rows_per_second = 0;  ///< 1 / mean latency over the same
};

/// The first four lines of PerformanceMetrics, from the sizes alone. `value_bytes` is 4 for
/// float32, 8 for float64.
PerformanceMetrics step_cost(const model::Mamba2Config& config, const model::HeadConfig& head,
                             std::int64_t value_bytes);

/// The latest latencies, in a ring of fixed size: recording never allocates.
class LatencyRecorder {
 public:
  static constexpr std::size_t kWindow = 4096;

  void record(std::int64_t nanoseconds) noexcept;
  std::int64_t count() const noexcept { return count_; }
  /// Nearest-rank percentile in microseconds, q in [0, 1]; 0 before the first record.
  double percentile_us(double q) const;
  double mean_us() const;

 private:
  std::size_t size() const noexcept;
  std::array<std::int64_t, kWindow> ring_{};
  std::int64_t count_ = 0;
};

}  // namespace foxhunt::nn
