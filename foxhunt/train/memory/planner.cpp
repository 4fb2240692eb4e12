#include "foxhunt/train/memory/planner.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "foxhunt/base/progress.h"
#include "foxhunt/train/memory/memory_error.h"

namespace foxhunt::train {
namespace {

/// An estimate is no measurement: so much of the budget is planned with.
constexpr double kPlanned = 0.95;
/// What a further micro-batch costs, in rows: weights are packed again, operations begin again.
constexpr double kRowsOfAPass = 64.0;

struct Way {
  std::int64_t lanes, threads, micro;
  Recompute recompute;
  double cost;  ///< a step's length, relative
};

std::int64_t slice_of(std::int64_t batch, std::int64_t lanes) {
  return (batch + lanes - 1) / lanes;
}

double cost_of(const Way& way, const StepPlan& now, std::int64_t batch) {
  const std::int64_t slice = slice_of(batch, way.lanes);
  const std::int64_t rounds = (way.lanes + way.threads - 1) / way.threads;
  const std::int64_t passes = (slice + way.micro - 1) / way.micro;
  const double rows = static_cast<double>(slice * now.tokens);
  double cost = static_cast<double>(rounds) * (rows + kRowsOfAPass * static_cast<double>(passes));
  if (way.recompute == Recompute::kBlocks) cost *= 4.0 / 3.0;
  // Of equals the one that changes least: other lanes add in another order.
  if (way.lanes != now.lanes) cost *= 1.001;
  return cost;
}

/// Every way to cut the batch, the fastest first.
std::vector<Way> ways(const StepPlan& now, std::int64_t batch, Recompute recompute) {
  std::vector<Way> all;
  const auto halves = [](std::int64_t from) {
    std::vector<std::int64_t> out;
    for (std::int64_t n = from; n >= 1; n /= 2) out.push_back(n);
    return out;
  };
  for (const Recompute again : {Recompute::kNone, Recompute::kBlocks}) {
    if (again == Recompute::kNone && recompute == Recompute::kBlocks) continue;  // as was asked for
    for (const std::int64_t lanes : halves(now.lanes)) {
      for (const std::int64_t threads : halves(std::min(now.threads, lanes))) {
        for (const std::int64_t micro : halves(slice_of(batch, lanes))) {
          Way way{lanes, threads, micro, again, 0.0};
          if (lanes == now.lanes && micro > now.micro) continue;
          way.cost = cost_of(way, now, batch);
          all.push_back(way);
        }
      }
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Way& a, const Way& b) { return a.cost < b.cost; });
  return all;
}

void set(ExperimentConfig& config, const Way& way, const StepPlan& now) {
  TrainConfig& train = config.hyper.train;
  train.recompute = way.recompute;
  train.micro_batch = way.micro;
  if (way.lanes != now.lanes) train.lanes = way.lanes;
  if (way.threads != now.threads) train.threads = way.threads;
}

std::string cut(const MemoryEstimate& e, const ExperimentConfig& config) {
  return fmt::format(
      "{}{}", e.plan.text(),
      config.hyper.train.recompute == Recompute::kBlocks ? ", blocks recomputed" : "");
}

std::string advice(const ExperimentConfig& config, const MemoryEstimate& least) {
  std::string text;
  for (const MemoryPart& part : least.parts) {
    if (part.bytes * 5 < least.fullest().total) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", part.name, format_bytes(part.bytes));
  }
  return fmt::format(
      "most of it: {}. A larger budget, or less of model.d_model = {}, model.n_layer = {}, "
      "windows.length = {}",
      text, config.hyper.model.d_model, config.hyper.model.n_layer, config.windows.length);
}

}  // namespace

MemoryPlan plan_memory(ExperimentConfig& config, std::int64_t budget, const Estimator& estimate) {
  const auto planned = static_cast<std::int64_t>(kPlanned * static_cast<double>(budget));
  MemoryPlan plan{.estimate = estimate(config), .text = {}};
  const std::int64_t wanted = plan.estimate.fullest().total;
  const std::string as_is = cut(plan.estimate, config);
  if (wanted <= planned) {
    plan.text = fmt::format("memory: {} of {} as configured: {}", format_bytes(wanted),
                            format_bytes(budget), as_is);
    return plan;
  }
  const StepPlan now = plan.estimate.plan;
  std::optional<MemoryEstimate> least;
  for (const Way& way : ways(now, config.hyper.train.batch_size, config.hyper.train.recompute)) {
    ExperimentConfig tried = config;
    set(tried, way, now);
    MemoryEstimate e = estimate(tried);
    if (e.fullest().total <= planned) {
      plan.text = fmt::format("memory: {} of {}: {} (as configured it would need {}: {})",
                              format_bytes(e.fullest().total), format_bytes(budget), cut(e, tried),
                              format_bytes(wanted), as_is);
      plan.estimate = std::move(e);
      plan.changed = true;
      config = std::move(tried);
      return plan;
    }
    if (!least || e.fullest().total < least->fullest().total) least = std::move(e);
  }
  throw MemoryError(fmt::format(
      "[memory] a budget of {} does not suffice: the least that works is {} ({} on {}, one window "
      "at a time, blocks recomputed); {}",
      format_bytes(budget),
      format_bytes(
          static_cast<std::int64_t>(static_cast<double>(least->fullest().total) / kPlanned + 1.0)),
      least->fullest().name, least->device, advice(config, *least)));
}

}  // namespace foxhunt::train
