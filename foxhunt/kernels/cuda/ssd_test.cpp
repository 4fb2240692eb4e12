// The GPU's block algorithms, run on the host, against the recurrence in float64.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/cuda/dispatch.h"
#include "foxhunt/kernels/cuda/host_runner.h"
#include "foxhunt/kernels/cuda/run_steps.h"
#include "foxhunt/kernels/cuda/run_trial.h"

namespace foxhunt::kernels::cuda {
namespace {

template <class In, class Real>
Answers run_on_host(const Trial& trial, const HostRunner& runner = HostRunner()) {
  HostMemory memory;
  TrialRun<In, Real, HostMemory> run(trial, memory);
  run_forward(runner, run.forward());
  run_backward(runner, run.backward());
  return run.answers();
}

std::string text(const Shape& s) {
  return fmt::format("B={} T={} H={} P={} G={} N={}", s.batch, s.tokens, s.heads, s.headdim,
                     s.groups, s.d_state);
}

/// `bound` for every answer; relative to the largest value of each.
void expect_close(const Answers& got, const Answers& want, double bound, const Shape& shape) {
  for (const Difference& d : differences(got, want)) {
    EXPECT_LE(d.error, bound) << d.name << " at " << text(shape);
  }
}

/// Sizes that share no factor, every chunk length, tails of every tile, one head a group and one
/// group for all.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all{
      {1, 1, 1, 1, 1, 1},     {2, 5, 2, 3, 1, 2},     {1, 16, 1, 16, 1, 16},  {2, 33, 2, 7, 2, 5},
      {1, 50, 3, 17, 1, 19},  {1, 130, 2, 64, 1, 64}, {1, 70, 4, 33, 2, 100}, {1, 65, 2, 65, 1, 48},
      {1, 129, 1, 8, 1, 128}, {3, 17, 6, 5, 3, 8}};
  return all;
}

TEST(CudaSsd, EqualsTheRecurrenceAndItsGradientsInFloat64) {
  for (const Shape& shape : shapes()) {
    const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(1));
    // 1e-12: some hundred roundings of 1.1e-16 in sums of both signs.
    expect_close(run_on_host<double, double>(trial), reference_answers(trial), 1e-12, shape);
  }
}

TEST(CudaSsd, StaysWithinItsBoundInFloat32) {
  for (const Shape& shape : shapes()) {
    const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(2));
    expect_close(run_on_host<float, float>(trial), reference_answers(trial), kFloatBound, shape);
  }
}

TEST(CudaSsd, StaysWithinItsBoundWithBfloat16Inputs) {
  for (const Shape& shape : shapes()) {
    const Trial trial = make_trial(shape, Grid::kBf16, {}, Rng(3));
    const Answers got = run_on_host<Bf16, float>(trial);
    for (const Difference& d : differences(got, reference_answers(trial)))
      EXPECT_LE(d.error, bound_of<Bf16>(d.name)) << d.name << " at " << text(shape);
  }
}

TEST(CudaSsd, RestartsAtTheBoundariesOfSegments) {
  TrialOptions options;
  options.segments = true;
  for (const Shape& shape : shapes()) {
    const Trial trial = make_trial(shape, Grid::kFloat, options, Rng(4));
    expect_close(run_on_host<double, double>(trial), reference_answers(trial), 1e-12, shape);
  }
}

/// float64 shows more: a float32 decay is kept as two floats, whose difference hides a last bit.
template <class Real>
void expect_no_bit_between_segments() {
  TrialOptions options;
  options.segments = true;
  const Shape shape{1, 60, 2, 5, 1, 4};
  Trial trial = make_trial(shape, Grid::kFloat, options, Rng(5));
  for (std::size_t i = 0; i < trial.segments.size(); ++i)
    trial.segments[i] = i < 23 ? 0 : i < 41 ? 1 : 2;
  const Answers before = run_on_host<Real, Real>(trial);
  constexpr std::size_t kFrom = 23;  // the middle one: 2 step sizes and 10 channels a token
  constexpr std::size_t kTo = 41;
  for (std::size_t i = 2 * kFrom; i < 2 * kTo; ++i) trial.dt[i] *= 1.37;
  for (std::size_t i = 10 * kFrom; i < 10 * kTo; ++i) trial.x[i] += 0.3;
  const Answers after = run_on_host<Real, Real>(trial);
  const auto same = [](const std::vector<double>& a, const std::vector<double>& b, std::size_t from,
                       std::size_t to) {
    return std::equal(a.begin() + std::ptrdiff_t(from), a.begin() + std::ptrdiff_t(to),
                      b.begin() + std::ptrdiff_t(from));
  };
  for (const auto& [first, last] : {std::pair<std::size_t, std::size_t>{0, 23}, {41, 60}}) {
    EXPECT_TRUE(same(before.y, after.y, first * 10, last * 10));
    EXPECT_TRUE(same(before.dx, after.dx, first * 10, last * 10));
    EXPECT_TRUE(same(before.ddt, after.ddt, first * 2, last * 2));
    EXPECT_TRUE(same(before.dB, after.dB, first * 4, last * 4));
    EXPECT_TRUE(same(before.dC, after.dC, first * 4, last * 4));
  }
  EXPECT_FALSE(same(before.y, after.y, 230, 410));
  EXPECT_EQ(before.final_state, after.final_state);
  EXPECT_EQ(before.dstate, after.dstate);
}

TEST(CudaSsd, NoBitOfOneSegmentReachesAnother) {
  expect_no_bit_between_segments<float>();
  expect_no_bit_between_segments<double>();
}

TEST(CudaSsd, WorksWithoutSkipStateAndFinalGradient) {
  TrialOptions options;
  options.skip = options.state = options.final_gradient = false;
  for (const Shape& shape : {Shape{2, 33, 2, 7, 2, 5}, Shape{1, 130, 2, 64, 1, 64}}) {
    const Trial trial = make_trial(shape, Grid::kFloat, options, Rng(6));
    expect_close(run_on_host<double, double>(trial), reference_answers(trial), 1e-12, shape);
  }
}

TEST(CudaSsd, HoldsDecaysFromOneToNothing) {
  // Tokens that forget everything stand beside tokens that forget little: a sum of decays in one
  // float would be 0.25 wide behind them, and differences of it wrong by as much.
  TrialOptions options;
  options.min_decay = 1e-6;
  options.max_decay = 4e4;
  for (const Shape& shape : {Shape{2, 33, 2, 7, 2, 5}, Shape{1, 130, 2, 64, 1, 64}}) {
    const Trial trial = make_trial(shape, Grid::kFloat, options, Rng(7));
    const Answers want = reference_answers(trial);
    expect_close(run_on_host<float, float>(trial), want, kFloatBound, shape);
    // 1e-10: a float64 sum of -1e5 is 1.5e-11 wide, and so is a decay behind it.
    expect_close(run_on_host<double, double>(trial), want, 1e-10, shape);
  }
}

TEST(CudaSsd, AGroupOfHeadsIsNeighboursNotEveryOther) {
  // Three heads to a group; one group's B is zero: its three heads, side by side, do nothing.
  Trial trial =
      make_trial({1, 9, 6, 2, 2, 3}, Grid::kFloat, {.skip = false, .state = false}, Rng(8));
  for (std::size_t i = 0; i < trial.B.size(); ++i)
    if (i / 3 % 2 == 0) trial.B[i] = 0.0;
  const Answers got = run_on_host<float, float>(trial);
  for (std::size_t i = 0; i < got.y.size(); ++i) {
    const std::size_t head = i / 2 % 6;
    EXPECT_EQ(got.y[i] == 0.0, head < 3) << "head " << head;
  }
}

TEST(CudaSsd, ATokenWithoutStepSizeDoesNothing) {
  const Shape shape{1, 40, 2, 4, 1, 3};
  Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(9));
  std::fill(trial.dt.begin() + 50, trial.dt.end(), 0.0);  // the last 15 tokens
  Trial shorter = trial;
  shorter.shape.tokens = 25;
  for (auto* values : {&shorter.x, &shorter.B, &shorter.C, &shorter.dt, &shorter.dy})
    values->resize(values->size() / 40 * 25);
  const Answers padded = run_on_host<float, float>(trial);
  const Answers alone = run_on_host<float, float>(shorter);
  EXPECT_THAT(padded.final_state, testing::Pointwise(testing::DoubleNear(1e-6), alone.final_state));
}

TEST(CudaSsd, TheOrderOfThreadsInAPhaseChangesNoBit) {
  for (const Shape& shape : shapes()) {
    const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(10));
    const Answers up = run_on_host<float, float>(trial, HostRunner(ThreadOrder::kForward));
    const Answers down = run_on_host<float, float>(trial, HostRunner(ThreadOrder::kBackward));
    for (const Difference& d : differences(up, down)) EXPECT_EQ(d.error, 0.0) << d.name;
  }
}

TEST(CudaSsd, AGridSmallerThanTheWorkGoesOnInRounds) {
  const Trial trial = make_trial({3, 70, 4, 9, 2, 6}, Grid::kFloat, {}, Rng(11));
  const Answers all = run_on_host<float, float>(trial);
  const Answers rounds = run_on_host<float, float>(trial, HostRunner(ThreadOrder::kForward, 5));
  for (const Difference& d : differences(rounds, all)) EXPECT_EQ(d.error, 0.0) << d.name;
}

TEST(CudaSsd, ABatchEqualsItsRowsBitForBit) {
  const Shape shape{3, 45, 2, 6, 1, 5};
  const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(12));
  Trial last = trial;
  last.shape.batch = 1;
  const auto keep_last_row = [](std::vector<double>& values) {
    values.erase(values.begin(), values.begin() + std::ptrdiff_t(values.size() / 3 * 2));
  };
  for (auto* values :
       {&last.x, &last.B, &last.C, &last.dt, &last.state, &last.dy, &last.dfinal_state}) {
    keep_last_row(*values);
  }
  Answers all = run_on_host<float, float>(trial);
  const Answers one = run_on_host<float, float>(last);
  keep_last_row(all.y);
  keep_last_row(all.dx);
  keep_last_row(all.ddt);
  keep_last_row(all.dB);
  keep_last_row(all.dstate);
  EXPECT_EQ(all.y, one.y);
  EXPECT_EQ(all.dx, one.dx);
  EXPECT_EQ(all.ddt, one.ddt);
  EXPECT_EQ(all.dB, one.dB);
  EXPECT_EQ(all.dstate, one.dstate);
}

TEST(CudaSsd, StepsEqualTheWindow) {
  for (const Shape& shape : {Shape{2, 20, 2, 3, 1, 5}, Shape{1, 40, 4, 9, 2, 12},
                             Shape{3, 7, 2, 16, 1, 16}, Shape{1, 5, 1, 64, 1, 100}}) {
    const Trial trial = make_trial(shape, Grid::kFloat, {}, Rng(13));
    const Answers want = reference_outputs(trial);
    HostRunner runner;
    HostMemory memory;
    const auto run = [&](const auto& args) { run_step(runner, args); };
    const Answers exact = run_steps<double, double>(trial, memory, run);
    const Answers single = run_steps<float, float>(trial, memory, run);
    for (const std::size_t i : {0U, 1U}) {  // y and final_state
      EXPECT_LE(differences(exact, want)[i].error, 1e-13) << text(shape);
      EXPECT_LE(differences(single, want)[i].error, kFloatBound) << text(shape);
    }
  }
}

}  // namespace
}  // namespace foxhunt::kernels::cuda
