#include "foxhunt/exporter/candidates.h"

#include <algorithm>
#include <chrono>

#include "foxhunt/base/error.h"
#include "foxhunt/engine/session.h"

namespace foxhunt::exporter {
namespace {

/// Steps of one form, a batch at a time so that the clock costs nothing.
class Stopwatch {
 public:
  explicit Stopwatch(std::shared_ptr<const engine::Plan> plan)
      : session_(plan),
        row_(static_cast<std::size_t>(plan->n_features()), 0.25F),
        out_(static_cast<std::size_t>(plan->n_outputs())) {}

  void run_batch() {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kBatch; ++i) session_.step(row_, out_);
    const std::chrono::duration<double, std::micro> took = std::chrono::steady_clock::now() - start;
    samples_.push_back(took.count() / kBatch);
  }
  double median_us() {
    std::ranges::sort(samples_);
    return samples_[samples_.size() / 2];
  }

 private:
  static constexpr int kBatch = 64;
  engine::Session session_;
  std::vector<float> row_, out_;
  std::vector<double> samples_;
};

}  // namespace

Candidate compare(const bundle::Bundle& model, bundle::WeightForm form, const engine::Rows& rows) {
  Candidate candidate{.form = form, .bound = bundle::bound_of(form), .kernels = {}, .refused = {}};
  std::shared_ptr<const engine::Plan> plan;
  try {
    plan = engine::Plan::build(model, {.form = form});
  } catch (const ConfigError& error) {  // a weight that this form cannot hold
    candidate.refused = error.what();
    return candidate;
  }
  const engine::VerifyReport report = engine::replay(plan, rows);
  candidate.kernels = report.kernels;
  candidate.parity = report.parity;
  candidate.refused = report.what;
  return candidate;
}

void time_steps(const bundle::Bundle& model, std::vector<Candidate>& candidates) {
  std::vector<std::pair<Candidate*, Stopwatch>> watches;
  for (Candidate& candidate : candidates) {
    if (!candidate.refused.empty()) continue;
    watches.emplace_back(&candidate,
                         Stopwatch(engine::Plan::build(model, {.form = candidate.form})));
  }
  constexpr int kRounds = 200;  // 64 steps each: a second for a model of 10 us and four forms
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [candidate, watch] : watches) watch.run_batch();
  }
  for (auto& [candidate, watch] : watches) candidate->step_us = watch.median_us();
}

}  // namespace foxhunt::exporter
