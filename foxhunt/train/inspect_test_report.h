#pragma once
// A made-up report of two layers, two heads and three columns. Tests only.

#include <limits>

#include "foxhunt/train/inspect.h"

namespace foxhunt::train::test {

inline InspectReport small_report() {
  InspectReport report{.run = "runs/a<b", .split = "valid", .config = {}, .cost = {}, .usage = {}};
  report.config.d_model = 8;
  report.config.headdim = 8;
  report.config.n_layer = 2;
  report.config.d_state = 3;
  report.cost.parameters = 12345;
  report.cost.bytes_per_step = 54321;
  report.usage.rows = 2473;
  nn::HeadUsage quick{.importance = 2e-3,
                      .energy = 0.75,
                      .state_share = 0.5,
                      .rate = 2,
                      .decay = 0.9,
                      .memory = 9.5,
                      .dt = {0.01, 0.02, 0.05, 0.2, 0.4, 0.25}};
  nn::HeadUsage endless = quick;
  endless.memory = std::numeric_limits<double>::infinity();
  endless.decay = 1;
  report.usage.layers = {{{quick, endless}, {{{1e-4, 0.1}, {8e-4, 0.6}, {1e-4, 0.2}}}},
                         {{quick, quick}, {{{0, 0}, {2e-4, 0.3}, {3e-4, 0.4}}}}};
  return report;
}

inline PruneReport small_prune() {
  PruneReport report;
  report.from = "runs/a";
  report.run = "runs/b";
  report.split = "valid";
  report.rows = 2473;
  report.bound = 0.001;
  report.d_state_before = 3;
  report.d_state = 2;
  report.loss_before = 1.077;
  report.loss = 1.0775;
  report.cost_before = {
      .parameters = 1000, .state_values = 400, .bytes_per_step = 7200, .flops_per_step = 3000};
  report.cost = {
      .parameters = 900, .state_values = 300, .bytes_per_step = 6000, .flops_per_step = 2500};
  report.kept = {{{0, 2}}, {{1, 2}}};
  report.trials = {{1, std::numeric_limits<double>::quiet_NaN()}, {2, 1.0775}};
  report.weights_before_sha256 = std::string(64, 'a');
  report.weights_sha256 = std::string(64, 'b');
  return report;
}

}  // namespace foxhunt::train::test
