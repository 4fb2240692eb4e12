// The reference itself against golden values that another program made.
#include "foxhunt/kernels/reference.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"

#include "tests/golden/golden_case.h"

namespace foxhunt::kernels {
namespace {

using golden::GoldenCase;
using Values = std::vector<double>;

/// Double precision all the way; sums of a few hundred products in another order than the golden
/// program's.
constexpr double kTolerance = 1e-12;

struct Layer {
  explicit Layer(const GoldenCase& c) {
    const model::Mamba2Config& m = c.config;
    shape = {m.d_model, m.n_heads(),    m.headdim,      m.ngroups, m.d_state,
             m.d_conv,  m.dt_limit_min, m.dt_limit_max, m.norm_eps};
    shape.norm = m.gate_norm == model::GateNorm::kNormFirst ? ReferenceShape::Norm::kNormFirst
                 : m.gate_norm == model::GateNorm::kNone    ? ReferenceShape::Norm::kNone
                                                            : ReferenceShape::Norm::kGateFirst;
    const auto take = [&](const char* name) { return c.has(name) ? c.reals(name) : Values(); };
    weights = {take("in_proj.weight"),
               take("in_proj.bias"),
               take("conv1d.weight"),
               take("conv1d.bias"),
               take("dt_bias"),
               take("A_log"),
               take("D"),
               take("norm.weight"),
               take("out_proj.weight"),
               take("out_proj.bias")};
  }
  ReferenceShape shape;
  ReferenceWeights weights;
};

Values slice(const Values& all, std::int64_t start, std::int64_t size) {
  return {all.begin() + start, all.begin() + start + size};
}

void append(Values& to, const Values& from) { to.insert(to.end(), from.begin(), from.end()); }

struct Answers {
  Values out, y, dt, conv, ssm, cut_conv, cut_ssm;
};

void run_row(const GoldenCase& c, const Layer& layer, std::int64_t b, Answers& run) {
  const ReferenceShape& s = layer.shape;
  ReferenceState state(s);
  if (c.has("init.ssm_state")) {
    state.conv =
        slice(c.reals("init.conv_state"), b * s.channels() * s.d_conv, s.channels() * s.d_conv);
    state.ssm =
        slice(c.reals("init.ssm_state"), b * s.d_inner() * s.d_state, s.d_inner() * s.d_state);
  }
  const Values u = c.reals("u");
  const auto seq = c.has("seq_idx") ? c.integers("seq_idx") : std::vector<std::int64_t>();
  const std::int64_t length =
      c.has("lengths") ? c.integers("lengths")[static_cast<std::size_t>(b)] : c.tokens;
  for (std::int64_t t = 0; t < length; ++t) {
    const auto at = static_cast<std::size_t>(b * c.tokens + t);
    if (!seq.empty() && t > 0 && seq[at] != seq[at - 1]) state = ReferenceState(s);
    const Values token = slice(u, (b * c.tokens + t) * s.d_model, s.d_model);
    const ReferenceOutput answer = reference_step(s, layer.weights, token, state);
    append(run.out, answer.out);
    append(run.y, answer.y);
    append(run.dt, answer.dt);
    if (t + 1 == c.cut) {
      append(run.cut_conv, state.conv);
      append(run.cut_ssm, state.ssm);
    }
  }
  const auto padding = static_cast<std::size_t>(c.tokens - length);
  run.out.resize(run.out.size() + padding * static_cast<std::size_t>(s.d_model), 0.0);
  run.y.resize(run.y.size() + padding * static_cast<std::size_t>(s.d_inner()), 0.0);
  run.dt.resize(run.dt.size() + padding * static_cast<std::size_t>(s.heads), 0.0);
  append(run.conv, state.conv);
  append(run.ssm, state.ssm);
}

class ReferenceGoldenTest : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceGoldenTest, MeetsOutputsStepSizesAndStates) {
  const GoldenCase c(GetParam());
  const Layer layer(c);
  Answers run;
  for (std::int64_t b = 0; b < c.batch; ++b) run_row(c, layer, b, run);
  EXPECT_LT(golden::error(run.out, c.reals("expect.out")), kTolerance);
  EXPECT_LT(golden::error(run.y, c.reals("expect.y")), kTolerance);
  EXPECT_LT(golden::error(run.dt, c.reals("expect.dt")), kTolerance);
  EXPECT_LT(golden::error(run.conv, c.reals("expect.conv_state")), kTolerance);
  EXPECT_LT(golden::error(run.ssm, c.reals("expect.ssm_state")), kTolerance);
  if (c.cut > 0) {
    EXPECT_LT(golden::error(run.cut_conv, c.reals("expect.cut.conv_state")), kTolerance);
    EXPECT_LT(golden::error(run.cut_ssm, c.reals("expect.cut.ssm_state")), kTolerance);
  }
}

INSTANTIATE_TEST_SUITE_P(golden, ReferenceGoldenTest, testing::ValuesIn(golden::cases()),
                         [](const auto& file) { return golden::test_name(file.param); });

TEST(GoldenFolder, HoldsTheCasesThatEveryFormIsHeldTo) { EXPECT_GE(golden::cases().size(), 16U); }

TEST(ReferenceStep, NamesTheVectorThatDoesNotFit) {
  const ReferenceShape shape{2, 2, 2, 1, 3, 4};
  ReferenceState state(shape);
  try {
    reference_step(shape, {}, {1.0, 2.0}, state);
    FAIL() << "expected ShapeError";
  } catch (const ShapeError& error) {
    EXPECT_STREQ(error.what(), "[reference] in_proj.weight has 0 values, but must have 32");
  }
}

}  // namespace
}  // namespace foxhunt::kernels
