#pragma once
// The problems of the self-test, for a GPU or, in tests, for anything that offers the same
// functions.

#include <algorithm>

#include "foxhunt/kernels/cuda/run_steps.h"
#include "foxhunt/kernels/cuda/run_trial.h"
#include "foxhunt/kernels/cuda/self_test.h"

namespace foxhunt::kernels::cuda {

/// Every chunk length, tails everywhere, groups, boundaries, and decays from one to nothing.
inline std::vector<Trial> self_test_trials(Grid grid) {
  const Rng rng(20240521);
  TrialOptions segments;
  segments.segments = true;
  TrialOptions wild;
  wild.min_decay = 1e-6;
  wild.max_decay = 4e4;
  TrialOptions bare;
  bare.skip = bare.state = bare.final_gradient = false;
  return {make_trial({3, 13, 4, 5, 2, 7}, grid, {}, rng.split("short")),
          make_trial({2, 75, 2, 16, 1, 16}, grid, segments, rng.split("segments")),
          make_trial({1, 150, 2, 64, 1, 64}, grid, {}, rng.split("long")),
          make_trial({1, 131, 2, 33, 2, 100}, grid, wild, rng.split("wild")),
          make_trial({2, 33, 3, 20, 3, 9}, grid, bare, rng.split("bare"))};
}

/// Adds to `report` the worst of each answer. Target has forward(args), backward(args), step(args)
/// and a type Memory, made by memory().
template <class In, class Target>
void add_self_test(const Target& target, const std::string& type, SelfTestReport& report) {
  const auto note = [&](const std::string& operation, double error, double bound) {
    for (SelfTestLine& line : report.lines) {
      if (line.operation != operation) continue;
      line.error = std::max(line.error, error);
      return;
    }
    report.lines.push_back({operation, error, bound});
  };
  const Grid grid = std::is_same_v<In, Bf16> ? Grid::kBf16 : Grid::kFloat;
  for (const Trial& trial : self_test_trials(grid)) {
    const Answers want = reference_answers(trial);
    const auto solve = [&] {
      auto memory = target.memory();
      TrialRun<In, float, decltype(memory)> run(trial, memory);
      target.forward(run.forward());
      target.backward(run.backward());
      return run.answers();
    };
    const Answers got = solve();
    for (const Difference& d : differences(got, want)) {
      const bool forward = d.name == "y" || d.name == "final_state";
      note((forward ? "ssd_forward " : "ssd_backward ") + type + " " + d.name, d.error,
           bound_of<In>(d.name));
    }
    for (const Difference& d : differences(solve(), got))
      note("repeated " + type + " " + d.name, d.error, 0.0);
    if (!trial.segments.empty()) continue;
    auto memory = target.memory();
    const auto step = [&](const auto& args) { target.step(args); };
    const Answers steps = run_steps<In, float>(trial, memory, step);
    const Answers stepped{steps.y,  steps.final_state, want.dx, want.dB,    want.dC,
                          want.ddt, want.dA,           want.dD, want.dstate};
    for (const Difference& d : differences(stepped, want)) {
      if (d.name == "y" || d.name == "final_state")
        note("ssd_step " + type + " " + d.name, d.error, bound_of<In>(d.name));
    }
  }
}

template <class Target>
SelfTestReport run_self_test(const Target& target) {
  SelfTestReport report;
  add_self_test<float>(target, "float32", report);
  add_self_test<Bf16>(target, "bfloat16", report);
  return report;
}

}  // namespace foxhunt::kernels::cuda
