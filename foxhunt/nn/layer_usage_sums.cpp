#include "foxhunt/nn/layer_usage_sums.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <string_view>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

double share(double part, double whole) { return whole > 0 ? part / whole : 0.0; }

}  // namespace

LayerUsageSums::LayerUsageSums(const model::Mamba2Config& config, std::vector<double> rate,
                               std::vector<double> skip)
    : H_(config.n_heads()),
      P_(config.headdim),
      G_(config.ngroups),
      N_(config.d_state),
      rate_(std::move(rate)),
      skip_(std::move(skip)),
      steps_(index(H_), StepSizeCounts(config.dt_limit_min, config.dt_limit_max)),
      heads_(index(H_)),
      column_energy_(index(G_ * N_)),
      column_slopes_(index(G_ * N_)) {}

void LayerUsageSums::check(const LayerRows& rows) const {
  const std::size_t T = rows.dt.size() / index(H_);
  const auto need = [](std::string_view name, std::size_t got, std::size_t wanted) {
    if (got != wanted)
      throw ShapeError(fmt::format("[state_usage] {} holds {} values, not {}", name, got, wanted));
  };
  need("rate", rate_.size(), index(H_));
  if (!skip_.empty()) need("skip", skip_.size(), index(H_));
  need("dt", rows.dt.size(), T * index(H_));
  need("xbc", rows.xbc.size(), T * index(H_ * P_ + 2 * G_ * N_));
  need("state", rows.state.size(), index(H_ * P_ * N_));
  for (const auto& dy : rows.dy) need("dy", dy.size(), T * index(H_ * P_));
}

void LayerUsageSums::add(const LayerRows& rows) {
  check(rows);
  // The slope of a column is a sum over the rows of a piece and all heads of its group: squared
  // last.
  const std::size_t probes = rows.dy.size();
  std::vector<double> column_slopes(probes * index(G_ * N_));
  for (std::int64_t h = 0; h < H_; ++h) add_head(rows, h, column_slopes);
  for (std::size_t k = 0; k < probes; ++k) {
    for (std::size_t n = 0; n < column_slopes_.size(); ++n) {
      const double slope = column_slopes[k * column_slopes_.size() + n];
      column_slopes_[n] += slope * slope;
    }
  }
  const std::size_t seen = rows.dt.size() / index(H_);
  weight_ += static_cast<double>(seen * probes);
}

void LayerUsageSums::add_head(const LayerRows& rows, std::int64_t head,
                              std::vector<double>& column_slopes) {
  const std::size_t N = index(N_);
  const std::size_t group = index(head * G_ / H_);
  const std::size_t channels = index(H_ * P_ + 2 * G_ * N_);
  const std::size_t T = rows.dt.size() / index(H_);
  HeadSums& sums = heads_[index(head)];
  double* energy = column_energy_.data() + group * N;
  std::vector<double> state(rows.state.begin() + head * P_ * N_,
                            rows.state.begin() + (head + 1) * P_ * N_);
  std::vector<double> parts(N);
  std::vector<double> head_slopes(rows.dy.size());
  for (std::size_t t = 0; t < T; ++t) {
    const double* x = rows.xbc.data() + t * channels + index(head * P_);
    const double* B = rows.xbc.data() + t * channels + index(H_ * P_) + group * N;
    const double* C = B + index(G_ * N_);
    const double dt = rows.dt[t * index(H_) + index(head)];
    steps_[index(head)].add(dt);
    const double decay = std::exp(-dt * rate_[index(head)]);
    for (std::size_t p = 0; p < index(P_); ++p) {
      double* S = state.data() + p * N;
      for (std::size_t n = 0; n < N; ++n) {
        S[n] = decay * S[n] + dt * x[p] * B[n];
        parts[n] = C[n] * S[n];
        energy[n] += parts[n] * parts[n];
      }
      const double from_state = std::accumulate(parts.begin(), parts.end(), 0.0);
      const double from_skip = skip_.empty() ? 0.0 : skip_[index(head)] * x[p];
      const double y = from_state + from_skip;
      sums.energy += y * y;
      sums.state += from_state * from_state;
      sums.skip += from_skip * from_skip;
      for (std::size_t k = 0; k < rows.dy.size(); ++k) {
        const double slope = rows.dy[k][(t * index(H_) + index(head)) * index(P_) + p];
        head_slopes[k] += slope * y;
        double* slopes = column_slopes.data() + k * column_slopes_.size() + group * N;
        for (std::size_t n = 0; n < N; ++n) slopes[n] += slope * parts[n];
      }
    }
  }
  for (const double slope : head_slopes) sums.slopes += slope * slope;
}

HeadUsage LayerUsageSums::head_result(std::size_t head, double layer_energy) const {
  const HeadSums& sums = heads_[head];
  const double mean_rate = steps_[head].mean() * rate_[head];
  return {.importance = 0.5 * share(sums.slopes, weight_),
          .energy = share(sums.energy, layer_energy),
          .state_share = share(sums.state, sums.state + sums.skip),
          .rate = rate_[head],
          .decay = std::exp(-mean_rate),
          .memory = mean_rate > 0 ? 1.0 / mean_rate : std::numeric_limits<double>::infinity(),
          .dt = steps_[head].result()};
}

LayerUsage LayerUsageSums::result() const {
  LayerUsage usage;
  double layer_energy = 0;
  std::vector<double> group_energy(index(G_));
  for (std::int64_t h = 0; h < H_; ++h) {
    layer_energy += heads_[index(h)].energy;
    group_energy[index(h * G_ / H_)] += heads_[index(h)].energy;
  }
  for (std::size_t h = 0; h < index(H_); ++h) usage.heads.push_back(head_result(h, layer_energy));
  for (std::size_t g = 0; g < index(G_); ++g) {
    auto& columns = usage.columns.emplace_back();
    for (std::size_t n = 0; n < index(N_); ++n) {
      const std::size_t at = g * index(N_) + n;
      columns.push_back({.importance = 0.5 * share(column_slopes_[at], weight_),
                         .contribution = std::sqrt(share(column_energy_[at], group_energy[g]))});
    }
  }
  return usage;
}

}  // namespace foxhunt::nn
