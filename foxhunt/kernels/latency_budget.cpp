#include "foxhunt/kernels/latency_budget.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/progress.h"

namespace foxhunt::kernels {
namespace {

constexpr std::int64_t kAssumedL2Bytes = 256 << 10;

struct Rates {
  double floor;
  double realistic;
  std::string text;
};

Rates rates_of(const Hardware& hardware) {
  const ReadRate& l2 = hardware.bandwidth.l2;
  const bool known = l2.median > 0.0 && l2.best > 0.0;
  const double median = known ? l2.median : kAssumedL2Rate;
  const double best = known ? l2.best : kAssumedL2Rate;
  return {best, median * kEngineShare,
          known ? fmt::format("one core reads its L2 at {:.0f} GB/s (best {:.0f})", median, best)
                : fmt::format("the L2 rate is not known, {:.0f} GB/s assumed", kAssumedL2Rate)};
}

std::int64_t half_l2(const Hardware& hardware) {
  return (hardware.l2_bytes > 0 ? hardware.l2_bytes : kAssumedL2Bytes) / 2;
}

/// 1 GB/s = 1e3 bytes a microsecond.
double microseconds(std::int64_t bytes, double gb_per_s) {
  return static_cast<double>(bytes) / (gb_per_s * 1e3);
}

ModelSizes like_default_hft(std::int64_t d_model, std::int64_t n_layer) {
  ModelSizes sizes = default_hft_sizes();
  sizes.d_model = d_model;
  sizes.n_layer = n_layer;
  sizes.heads = 2 * d_model / sizes.headdim;
  return sizes;
}

/// The last of shape(1), shape(2), … that fits; their cost rises.
template <class Shape>
std::optional<ModelFit> largest(const Hardware& hardware, double budget_us, double ModelFit::*time,
                                Shape shape) {
  std::optional<ModelFit> found;
  for (std::int64_t i = 1; i <= 256; ++i) {
    ModelFit fit = fit_of(hardware, shape(i));
    if (!fit.in_l2 || fit.*time > budget_us) break;
    found = fit;
  }
  return found;
}

}  // namespace

StepCost step_cost(const ModelSizes& s) {
  check_sizes(s);
  const std::int64_t layer = s.proj_width() * s.d_model + s.d_model * s.d_inner() +
                             s.channels() * (s.d_conv + 1) + 3 * s.heads + s.d_inner() + s.d_model;
  const std::int64_t ends = s.d_model * (s.features + 1) + s.d_model + s.outputs * (s.d_model + 1);
  StepCost cost;
  cost.parameters = s.n_layer * layer + ends;
  cost.state_floats = s.n_layer * (s.d_inner() * s.d_state + s.channels() * s.d_conv);
  cost.moved_bytes = 4 * cost.parameters + 8 * cost.state_floats;
  cost.resident_bytes = 4 * cost.parameters + 4 * cost.state_floats;
  return cost;
}

ModelFit fit_of(const Hardware& hardware, const ModelSizes& sizes) {
  const Rates rates = rates_of(hardware);
  const StepCost cost = step_cost(sizes);
  const bool in_l1 =
      cost.resident_bytes <= hardware.l1d_bytes && hardware.bandwidth.l1.best > rates.floor;
  const double floor = in_l1 ? hardware.bandwidth.l1.best : rates.floor;
  return {.sizes = sizes,
          .cost = cost,
          .floor_us = microseconds(cost.moved_bytes, floor),
          .realistic_us = microseconds(cost.moved_bytes, rates.realistic),
          .in_l2 = cost.resident_bytes <= half_l2(hardware)};
}

LatencyFit model_for_budget(const Hardware& hardware, double budget_us) {
  if (!std::isfinite(budget_us) || budget_us <= 0.0)
    throw UsageError(fmt::format(
        "[latency_budget] a budget of {} us, but it must be positive and finite", budget_us));
  const Rates rates = rates_of(hardware);
  const auto wide = [](std::int64_t i) { return like_default_hft(16 * i, 4); };
  const auto deep = [](std::int64_t i) { return like_default_hft(64, i); };
  LatencyFit fit;
  fit.budget_us = budget_us;
  fit.floor_gb_per_s = rates.floor;
  fit.realistic_gb_per_s = rates.realistic;
  fit.most_resident_bytes = half_l2(hardware);
  fit.example = fit_of(hardware, default_hft_sizes());
  fit.widest = largest(hardware, budget_us, &ModelFit::realistic_us, wide);
  fit.deepest = largest(hardware, budget_us, &ModelFit::realistic_us, deep);
  fit.widest_at_floor = largest(hardware, budget_us, &ModelFit::floor_us, wide);
  fit.deepest_at_floor = largest(hardware, budget_us, &ModelFit::floor_us, deep);
  fit.reason = fmt::format(
      "a float32 step moves 4 bytes a parameter and 8 a number of state; {}, the engine gets "
      "{:.0f} % of the median; what stays resident may take {}, half of a core's L2{}",
      rates.text, 100.0 * kEngineShare, format_bytes(fit.most_resident_bytes),
      hardware.l2_bytes > 0 ? "" : " (256 KiB assumed: the system does not say)");
  return fit;
}

}  // namespace foxhunt::kernels
