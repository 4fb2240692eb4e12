// Every kernel table, and the float64 form of the same algorithms, against the recurrence and its
// reverse in float64 (reference_mixer.h), on every shape and every way to cut a batch.
#include "foxhunt/kernels/mixer.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/mixer_case.h"

namespace foxhunt::kernels {
namespace {

/// Largest |got - want| over max(1, largest |want|).
template <class T>
double distance(const std::vector<T>& got, const std::vector<double>& want) {
  double worst = 0.0;
  double scale = 1.0;
  EXPECT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    const double d = std::abs(static_cast<double>(got[i]) - want[i]);
    worst = std::isnan(d) ? std::numeric_limits<double>::infinity() : std::max(worst, d);
    scale = std::max(scale, std::abs(want[i]));
  }
  return worst / scale;
}

template <class T>
void expect_equal(const KernelTableOf<T>& kernels, const MixerCase& c, double tolerance,
                  double gradient_tolerance) {
  SCOPED_TRACE(c.name() + " on " + kernels.name);
  const ReferenceMixerInput in = c.input();
  const ReferenceMixerOutput dout = c.upstream();
  const ReferenceMixerOutput want = reference_mixer_forward(in);
  const ReferenceMixerGradients grad = reference_mixer_backward(in, dout);
  const MixerRun<T> got = run_mixer(kernels, in, dout);
  EXPECT_LE(distance(got.out, want.out), tolerance) << "out";
  EXPECT_LE(distance(got.conv_next, want.conv_next), tolerance) << "conv_next";
  EXPECT_LE(distance(got.ssm_next, want.ssm_next), tolerance) << "ssm_next";
  EXPECT_LE(distance(got.dproj, grad.proj), gradient_tolerance) << "dproj";
  EXPECT_LE(distance(got.dconv, grad.conv), gradient_tolerance) << "dconv";
  EXPECT_LE(distance(got.dconv_bias, grad.conv_bias), gradient_tolerance) << "dconv_bias";
  EXPECT_LE(distance(got.ddt_bias, grad.dt_bias), gradient_tolerance) << "ddt_bias";
  EXPECT_LE(distance(got.dA, grad.A), gradient_tolerance) << "dA";
  EXPECT_LE(distance(got.dD, grad.D), gradient_tolerance) << "dD";
  EXPECT_LE(distance(got.dnorm, grad.norm), gradient_tolerance) << "dnorm";
  EXPECT_LE(distance(got.dconv_state, grad.conv_state), gradient_tolerance) << "dconv_state";
  EXPECT_LE(distance(got.dssm_state, grad.ssm_state), gradient_tolerance) << "dssm_state";
}

// float64 differs from the recurrence by the order of summation only: 1e-12 leaves three digits.
// float32: 5e-6 forward, 2e-5 backward, about three times the worst seen over these cases.
constexpr double kExact = 1e-12;
constexpr double kForward = 5e-6;
constexpr double kBackward = 2e-5;

class MixerTest : public testing::TestWithParam<const KernelTable*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << GetParam()->name << " does not run on this CPU";
  }
};

TEST_P(MixerTest, MatchesTheRecurrenceOnEveryShape) {
  for (const MixerCase& c : mixer_shapes()) expect_equal(*GetParam(), c, kForward, kBackward);
}

TEST_P(MixerTest, MatchesTheRecurrenceWithStatesPaddingAndPackedSequences) {
  for (const MixerCase& c : mixer_cuts()) expect_equal(*GetParam(), c, kForward, kBackward);
}

TEST_P(MixerTest, LimitsOfTheStepSizeBindInBothPasses) {
  for (const MixerCase& c : mixer_limits()) expect_equal(*GetParam(), c, kForward, kBackward);
}

TEST_P(MixerTest, HugeDecaysStayFinite) {
  MixerCase c;
  c.a_scale = 4e4;  // |A| dt up to 4e4 a token
  c.raw_dt = {0.0, 1.0};
  expect_equal(*GetParam(), c, kForward, kBackward);
}

TEST_P(MixerTest, ATokenThatForgetsAllLeavesItsNeighboursExact) {
  MixerCase c;  // dt A is -4e4 at every seventh token and about -1e-1 between them
  c.a_scale = 2e3;
  c.raw_dt = {-11.0, -9.0};
  c.spike = 20.0;
  c.tokens = 40;
  c.shape.dt_low = 0.0;
  c.shape.dt_high = 100.0;
  c.shape.chunk = 32;
  expect_equal(*GetParam(), c, kForward, kBackward);
}

TEST_P(MixerTest, OffsetsPastTwoToTheThirtyFirstAreRight) {
  MixerCase c;
  c.tokens = 12;
  c.shape.ssd = {2, 4, 1, 3};
  const ReferenceMixerInput in = c.input();
  const auto want = run_mixer_forward(*GetParam(), in);
  // The same rows 2^28 floats apart, in memory that is only reserved: the last begins beyond 2^31.
  constexpr std::int64_t kStride = std::int64_t{1} << 28;
  const std::size_t bytes = static_cast<std::size_t>(c.tokens * kStride) * sizeof(float);
  void* block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) GTEST_SKIP() << "cannot reserve " << bytes << " bytes of address space";
  auto* proj = static_cast<float*>(block);
  const std::int64_t width = c.shape.proj_width();
  for (std::int64_t t = 0; t < c.tokens; ++t) {
    for (std::int64_t k = 0; k < width; ++k) {
      proj[t * kStride + k] = static_cast<float>(in.proj[static_cast<std::size_t>(t * width + k)]);
    }
  }
  const auto got = run_mixer_rows(*GetParam(), in, proj, kStride);
  ::munmap(block, bytes);
  EXPECT_EQ(got.out, want.out);
  EXPECT_EQ(got.ssm_next, want.ssm_next);
  EXPECT_EQ(got.conv_next, want.conv_next);
}

TEST_P(MixerTest, RawStepSizesFromMinusThirtyToSixtyHaveTheRightGradient) {
  for (const double raw : {-30.0, -5.0, 0.0, 19.0, 21.0, 60.0}) {
    MixerCase c;
    c.raw_dt = {raw, raw};
    c.a_scale = 0.01;
    // Relative to the largest value: states grow as dt does.
    expect_equal(*GetParam(), c, kForward, 5e-5);
  }
}

TEST_P(MixerTest, TwoRunsGiveTheSameBits) {
  const MixerCase c = mixer_cuts().back();
  const auto in = c.input();
  const auto a = run_mixer(*GetParam(), in, c.upstream());
  const auto b = run_mixer(*GetParam(), in, c.upstream());
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.dproj, b.dproj);
  EXPECT_EQ(a.dA, b.dA);
  EXPECT_EQ(a.dconv, b.dconv);
}

TEST_P(MixerTest, WhatLiesBehindABoundaryNeverReachesAcrossIt) {
  MixerCase c;
  c.tokens = 40;
  c.segments = {0, 13, 14, 29};
  const ReferenceMixerInput in = c.input();
  ReferenceMixerInput changed = in;
  const std::int64_t width = c.shape.proj_width();
  for (std::int64_t t = 0; t < 14; ++t) {
    for (std::int64_t k = 0; k < width; ++k) {
      changed.proj[static_cast<std::size_t>(t * width + k)] *= -3.0;
    }
  }
  const auto a = run_mixer(*GetParam(), in, c.upstream());
  const auto b = run_mixer(*GetParam(), changed, c.upstream());
  const auto from = static_cast<std::ptrdiff_t>(14 * c.shape.inner());
  const auto end = static_cast<std::ptrdiff_t>(40 * c.shape.inner());
  EXPECT_TRUE(std::equal(a.out.begin() + from, a.out.begin() + end, b.out.begin() + from));
  const auto dfrom = static_cast<std::ptrdiff_t>(14 * width);
  const auto dend = static_cast<std::ptrdiff_t>(40 * width);
  EXPECT_TRUE(std::equal(a.dproj.begin() + dfrom, a.dproj.begin() + dend, b.dproj.begin() + dfrom));
  EXPECT_FALSE(std::equal(a.out.begin(), a.out.begin() + from, b.out.begin()));
}

TEST_P(MixerTest, PaddingIsReadByNothing) {
  MixerCase c;
  c.batch = 3;
  c.tokens = 21;
  c.lengths = {21, 9, 0};
  ReferenceMixerInput in = c.input();
  const auto a = run_mixer(*GetParam(), in, c.upstream());
  const std::int64_t width = c.shape.proj_width();
  for (std::int64_t row = 0; row < 3; ++row) {
    for (std::int64_t t = c.lengths[static_cast<std::size_t>(row)]; t < 21; ++t) {
      for (std::int64_t k = 0; k < width; ++k) {
        in.proj[static_cast<std::size_t>((row * 21 + t) * width + k)] =
            std::numeric_limits<double>::quiet_NaN();
      }
    }
  }
  const auto b = run_mixer(*GetParam(), in, c.upstream());
  EXPECT_EQ(a.out, b.out);
  EXPECT_EQ(a.ssm_next, b.ssm_next);
  EXPECT_EQ(a.conv_next, b.conv_next);
  EXPECT_EQ(a.dproj, b.dproj);
  EXPECT_EQ(a.dnorm, b.dnorm);
}

TEST_P(MixerTest, AnyCutOfAWindowGivesTheWholeStatesIncluded) {
  MixerCase c;
  c.tokens = 50;
  c.shape.chunk = 8;
  const ReferenceMixerInput whole = c.input();
  const auto want = run_mixer(*GetParam(), whole, c.upstream());
  for (const std::int64_t cut : {1, 2, 3, 7, 8, 9, 31, 49}) {
    SCOPED_TRACE(cut);
    ReferenceMixerInput first = whole;
    first.tokens = cut;
    ReferenceMixerInput second = whole;
    second.tokens = 50 - cut;
    const auto split = static_cast<std::ptrdiff_t>(cut * c.shape.proj_width());
    first.proj.assign(whole.proj.begin(), whole.proj.begin() + split);
    second.proj.assign(whole.proj.begin() + split, whole.proj.end());
    const auto front = run_mixer_forward(*GetParam(), first);
    second.conv_state.assign(front.conv_next.begin(), front.conv_next.end());
    second.ssm_state.assign(front.ssm_next.begin(), front.ssm_next.end());
    const auto back = run_mixer_forward(*GetParam(), second);
    std::vector<float> out = front.out;
    out.insert(out.end(), back.out.begin(), back.out.end());
    // The chunks fall elsewhere, so sums are ordered otherwise: a few roundings.
    EXPECT_LE(distance(out, {want.out.begin(), want.out.end()}), 2e-6);
    EXPECT_LE(distance(back.ssm_next, {want.ssm_next.begin(), want.ssm_next.end()}), 2e-6);
    EXPECT_EQ(back.conv_next, want.conv_next);
  }
}

TEST_P(MixerTest, SeventyThousandShortWindowsAreTheirHalves) {
  MixerCase c;
  c.batch = 70'000;
  c.tokens = 8;
  c.shape.ssd = {2, 2, 1, 2};
  c.with_states = false;
  const ReferenceMixerInput all = c.input();
  const auto whole = run_mixer_forward(*GetParam(), all);
  std::vector<float> halves;
  for (const std::int64_t from : {0, 35'000}) {
    ReferenceMixerInput half = all;
    half.batch = 35'000;
    const auto size = static_cast<std::ptrdiff_t>(half.batch * 8 * c.shape.proj_width());
    const auto begin = all.proj.begin() + (from == 0 ? 0 : size);
    half.proj.assign(begin, begin + size);
    const auto part = run_mixer_forward(*GetParam(), half);
    halves.insert(halves.end(), part.out.begin(), part.out.end());
  }
  EXPECT_EQ(whole.out, halves);
}

INSTANTIATE_TEST_SUITE_P(Built, MixerTest,
                         testing::ValuesIn(built_kernels().begin(), built_kernels().end()),
                         [](const auto& table) { return std::string(table.param->name); });

TEST(MixerInFloat64, IsTheRecurrenceUpToTheOrderOfSummation) {
  std::vector<MixerCase> cases = mixer_shapes();
  for (const MixerCase& c : mixer_cuts()) cases.push_back(c);
  for (const MixerCase& c : mixer_limits()) cases.push_back(c);
  for (const MixerCase& c : cases) expect_equal(kFloat64Kernels, c, kExact, kExact);
}

}  // namespace
}  // namespace foxhunt::kernels
