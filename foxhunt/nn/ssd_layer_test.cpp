// Over budget: one suite over one class; its cases share the reference and the shapes.
// Properties of the layer: every way to cut or batch a sequence gives the same answers, and its
// gradients are right.
#include "foxhunt/nn/ssd_layer.h"

#include <gmock/gmock.h>

#include <cmath>
#include <numeric>

#include "foxhunt/kernels/reference.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::Mamba2Config;
using testing::HasSubstr;

/// Float64 sums of at most a few thousand terms in two orders.
constexpr double kSame = 1e-12;

void expect_same(const Outcome& got, const Outcome& want, double limit, const std::string& what) {
  EXPECT_LT(distance(got.out, want.out), limit) << what;
  EXPECT_LT(distance(got.state.conv, want.state.conv), limit) << what;
  EXPECT_LT(distance(got.state.ssm, want.state.ssm), limit) << what;
}

// ---------------------------------------------------------------- against the reference

std::vector<double> values_of(const Tensor& t) {
  if (!t.defined()) return {};
  const Tensor flat = t.detach().to(at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

kernels::ReferenceShape shape_of(const Mamba2Config& c) {
  kernels::ReferenceShape s{c.d_model, c.n_heads(),    c.headdim,      c.ngroups, c.d_state,
                            c.d_conv,  c.dt_limit_min, c.dt_limit_max, c.norm_eps};
  using Norm = kernels::ReferenceShape::Norm;
  s.norm = c.gate_norm == model::GateNorm::kNone        ? Norm::kNone
           : c.gate_norm == model::GateNorm::kNormFirst ? Norm::kNormFirst
                                                        : Norm::kGateFirst;
  return s;
}

kernels::ReferenceWeights weights_of(const SSDLayer& l) {
  return {values_of(l.in_proj->weight),
          values_of(l.in_proj->bias),
          values_of(l.conv1d->weight),
          values_of(l.conv1d->bias),
          values_of(l.dt_bias),
          values_of(l.A_log),
          values_of(l.D),
          values_of(l.norm ? l.norm->weight : Tensor()),
          values_of(l.out_proj->weight),
          values_of(l.out_proj->bias)};
}

/// The reference's answer to u [B, T, D] from a given state, as tensors.
Outcome reference(const Mamba2Config& c, const SSDLayer& layer, const Tensor& u,
                  const LayerState& from) {
  const auto shape = shape_of(c);
  const auto weights = weights_of(layer);
  Outcome r{at::empty(u.sizes(), at::kDouble),
            {at::empty_like(from.conv), at::empty_like(from.ssm)}};
  for (std::int64_t b = 0; b < u.size(0); ++b) {
    kernels::ReferenceState state(shape);
    state.conv = values_of(from.conv[b]);
    state.ssm = values_of(from.ssm[b]);
    for (std::int64_t t = 0; t < u.size(1); ++t) {
      auto answer = kernels::reference_step(shape, weights, values_of(u[b][t]), state);
      r.out[b][t].copy_(at::tensor(answer.out, at::kDouble));
    }
    r.state.conv[b].copy_(at::tensor(state.conv, at::kDouble).view(from.conv[b].sizes()));
    r.state.ssm[b].copy_(at::tensor(state.ssm, at::kDouble).view(from.ssm[b].sizes()));
  }
  return r;
}

TEST(SSDLayer, MeetsTheReferenceOnOddSizesGroupsAndOptions) {
  const at::NoGradGuard no_grad;
  Rng rng(11);
  for (int i = 0; i < 60; ++i) {
    Mamba2Config c;
    const auto pick = [&](std::int64_t low, std::int64_t high) {
      return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low + 1)));
    };
    c.ngroups = pick(1, 4);
    c.expand = pick(1, 3);
    c.headdim = pick(1, 7);
    c.d_model = c.headdim * c.ngroups * pick(1, 3);
    c.d_state = pick(1, 19);
    c.d_conv = pick(1, 6);
    c.chunk_size = pick(1, 9);
    c.n_layer = 1;
    c.gate_norm = static_cast<model::GateNorm>(rng.below(3));
    c.has_d = rng.below(2) == 0;
    c.conv_bias = rng.below(2) == 0;
    c.proj_bias = rng.below(2) == 0;
    if (rng.below(2) == 0) {
      c.dt_limit_min = 0.05;
      c.dt_limit_max = 0.4;
    }
    const auto layer = random_layer(c, rng);
    const Tensor u = random_tensor(rng, {2, pick(1, 25), c.d_model});
    const LayerState from = random_layer_state(c, 2, rng);
    const Outcome want = reference(c, *layer, u, from);
    const std::string what = "case " + std::to_string(i);
    expect_same(window(*layer, u, from), want, kSame, what + " window");
    expect_same(steps(*layer, u, from), want, kSame, what + " steps");
  }
}

TEST(SSDLayer, StaysFiniteAndRightWhereDecaysAreTotal) {
  // dt A reaches -4e4 a token, sums -1e6 a chunk; the next tokens have decays near 1, which a sum
  // in float32 would lose.
  const at::NoGradGuard no_grad;
  Rng rng(12);
  const Mamba2Config c = small_layer();
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    auto layer = random_layer(c, rng, dtype);
    layer->A_log.fill_(std::log(2000.0));
    layer->dt_bias.fill_(-9.0);
    layer->in_proj->weight.narrow(0, c.in_proj_width() - c.n_heads(), c.n_heads()).fill_(0.0);
    Tensor u = random_tensor(rng, {2, 24, c.d_model}, dtype);
    layer->in_proj->weight.narrow(0, c.in_proj_width() - c.n_heads(), c.n_heads())
        .select(1, 0)
        .fill_(1.0);
    u.select(2, 0).fill_(0.0);
    u.select(2, 0).select(1, 3).fill_(29.0);  // one token of dt = 20: dt A = -4e4
    u.select(2, 0).select(1, 12).fill_(29.0);
    const LayerState from = random_layer_state(c, 2, rng, dtype);
    // Sums of dt A reach -8e4, where float64 rounds to 1.5e-11; float32 has its usual tolerance.
    const double limit = dtype == at::kDouble ? 1e-10 : 2e-6;
    const LayerState wide{from.conv.to(at::kDouble), from.ssm.to(at::kDouble)};
    const Outcome want = reference(c, *layer, u.to(at::kDouble), wide);
    expect_same(window(*layer, u, from), want, limit, at::toString(dtype));
    expect_same(steps(*layer, u, from), want, limit, at::toString(dtype));
  }
}

// ---------------------------------------------------------------- cutting

TEST(SSDLayer, AnySplitOfAWindowGivesTheWhole) {
  const at::NoGradGuard no_grad;
  Rng rng(13);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  const std::int64_t T = 5 * c.chunk_size + 3;
  const Tensor u = random_tensor(rng, {3, T, c.d_model});
  const LayerState from = random_layer_state(c, 3, rng);
  const Outcome whole = window(*layer, u, from);
  const auto in_pieces = [&](const std::vector<std::int64_t>& sizes) {
    Outcome r{Tensor(), from};
    std::vector<Tensor> parts;
    std::int64_t start = 0;
    for (std::size_t i = 0; start < T; ++i) {
      const std::int64_t size = std::min(sizes[i % sizes.size()], T - start);
      parts.push_back(layer->forward(u.narrow(1, start, size), &r.state));
      start += size;
    }
    r.out = at::cat(parts, 1);
    return r;
  };
  const std::int64_t Q = c.chunk_size;
  for (const std::int64_t size : {std::int64_t{1}, std::int64_t{3}, Q - 1, Q, Q + 1, T}) {
    expect_same(in_pieces({size}), whole, kSame, "pieces of " + std::to_string(size));
  }
  for (int i = 0; i < 10; ++i) {
    std::vector<std::int64_t> sizes;
    for (int k = 0; k < 5; ++k) {
      sizes.insert(sizes.end(), 1 + static_cast<std::int64_t>(rng.below(15)));
    }
    expect_same(in_pieces(sizes), whole, kSame, "random pieces");
  }
}

TEST(SSDLayer, TheChunkLengthDoesNotMatter) {
  const at::NoGradGuard no_grad;
  Mamba2Config c = small_layer();
  Rng weights(14);
  const auto plain = random_layer(c, weights);
  Rng rng(15);
  const Tensor u = random_tensor(rng, {2, 50, c.d_model});
  const Outcome want = window(*plain, u, zero_layer_state(c, 2));
  for (const std::int64_t chunk : {1, 2, 7, 16, 50, 64}) {
    c.chunk_size = chunk;
    Rng same(14);
    expect_same(window(*random_layer(c, same), u, zero_layer_state(c, 2)), want, kSame,
                std::to_string(chunk));
  }
}

// ---------------------------------------------------------------- gradients

/// Largest |central difference - autograd| over entries of every input of f, of a random projection
/// of its outputs. float64.
double gradient_error(const std::function<std::vector<Tensor>()>& f,
                      const std::vector<Tensor>& inputs, Rng& rng) {
  std::vector<Tensor> weights;
  for (const Tensor& out : f()) weights.push_back(random_tensor(rng, out.sizes()));
  const auto loss = [&] {
    Tensor sum = at::zeros({}, at::kDouble);
    const auto outs = f();
    for (std::size_t i = 0; i < outs.size(); ++i) sum = sum + (outs[i] * weights[i]).sum();
    return sum;
  };
  for (const Tensor& t : inputs) t.mutable_grad() = Tensor();
  loss().backward();
  const at::NoGradGuard no_grad;
  const double eps = 1e-6;
  double worst = 0;
  for (const Tensor& t : inputs) {
    const Tensor grad = t.grad().contiguous();
    double* slot = t.mutable_data_ptr<double>();
    const std::int64_t stride =
        1 + t.numel() / 40;  // some 40 entries of each, the first among them
    for (std::int64_t i = 0; i < t.numel(); i += stride) {
      const double x = slot[i];
      slot[i] = x + eps;
      const double high = loss().item<double>();
      slot[i] = x - eps;
      const double low = loss().item<double>();
      slot[i] = x;
      worst =
          std::max(worst, std::abs((high - low) / (2 * eps) - grad.const_data_ptr<double>()[i]));
    }
  }
  return worst;
}

struct GradientCase {
  std::int64_t groups, tokens;
  bool limits, packed, step;
};

class SSDLayerGradientTest : public testing::TestWithParam<GradientCase> {};

TEST_P(SSDLayerGradientTest, MatchesFiniteDifferencesOfOutputsAndStates) {
  const GradientCase p = GetParam();
  Rng rng(22);
  Mamba2Config c = small_layer(p.groups);
  c.d_model = 6;
  c.headdim = 3;
  c.d_state = 2;
  c.chunk_size = 3;
  c.proj_bias = true;
  if (p.limits) {
    c.dt_limit_min = 0.08;
    c.dt_limit_max = 0.3;
  }
  const auto layer = random_layer(c, rng);
  const Tensor u = random_tensor(rng, {2, p.tokens, c.d_model}).requires_grad_();
  LayerState from = random_layer_state(c, 2, rng);
  from.conv.requires_grad_();
  from.ssm.requires_grad_();
  WindowMarks marks;
  if (p.packed) {
    marks.seq_idx = ints({0, 0, 1, 1, 1, 1, 2, 0, 0, 0, 0, 0, 0, 9}).view({2, 7});
    marks.lengths = ints({7, 5});
  }
  std::vector<Tensor> inputs{u, from.conv, from.ssm};
  for (const Tensor& parameter : layer->parameters()) inputs.push_back(parameter);
  const auto f = [&]() -> std::vector<Tensor> {
    const Outcome r = p.step ? steps(*layer, u, from) : window(*layer, u, from, marks);
    return {r.out, r.state.conv, r.state.ssm};
  };
  // Central differences of values of order 10 at eps 1e-6: rounding leaves about 1e-8; a wrong
  // gradient is off by 0.1.
  EXPECT_LT(gradient_error(f, inputs, rng), 1e-6);
}

INSTANTIATE_TEST_SUITE_P(Forms, SSDLayerGradientTest,
                         testing::Values(GradientCase{1, 7, false, false, false},
                                         GradientCase{2, 8, false, false, false},
                                         GradientCase{4, 7, false, false, false},
                                         GradientCase{2, 7, true, false, false},
                                         GradientCase{2, 7, false, true, false},
                                         GradientCase{2, 3, false, false, true},
                                         GradientCase{1, 3, true, false, true}),
                         [](const auto& one) {
                           const GradientCase& p = one.param;
                           return "G" + std::to_string(p.groups) + "_T" + std::to_string(p.tokens) +
                                  (p.limits ? "_limits" : "") + (p.packed ? "_packed" : "") +
                                  (p.step ? "_steps" : "");
                         });

TEST(SSDLayer, StepSizesAndTheirGradientsAreRightOverTheWholeRange) {
  // raw dt in {-30, -5, 0, 19, 21, 60}: softplus and its slope in closed form.
  Mamba2Config c = small_layer(1);
  c.d_model = 18;
  c.headdim = 6;  // six heads
  Rng rng(23);
  for (const at::ScalarType dtype : {at::kDouble, at::kFloat}) {
    const auto layer = random_layer(c, rng, dtype);
    const std::vector<double> raw{-30, -5, 0, 19, 21, 60};
    {
      const at::NoGradGuard no_grad;
      layer->dt_bias.copy_(at::tensor(raw, at::kDouble));
      layer->in_proj->weight.narrow(0, c.in_proj_width() - 6, 6).fill_(0.0);
    }
    for (const bool stepwise : {false, true}) {
      layer->zero_grad();
      LayerTrace trace;
      LayerState state = zero_layer_state(c, 1, dtype);
      const Tensor u = random_tensor(rng, {1, 1, c.d_model}, dtype);
      if (stepwise) {
        layer->step(u.select(1, 0), state, &trace);
      } else {
        layer->forward(u, &state, {}, &trace);
      }
      trace.dt.sum().backward();
      for (std::size_t h = 0; h < raw.size(); ++h) {
        const double want = raw[h] > 20 ? raw[h] : std::log1p(std::exp(raw[h]));
        const double slope = raw[h] > 20 ? 1.0 : 1.0 / (1.0 + std::exp(-raw[h]));
        // Relative, for the smallest too: 1e-13 of dt = 1e-13 must not be rounded away.
        const double limit = dtype == at::kDouble ? 1e-14 : 3e-7;
        EXPECT_NEAR(trace.dt.flatten()[static_cast<std::int64_t>(h)].item<double>() / want, 1.0,
                    limit)
            << raw[h];
        EXPECT_NEAR(layer->dt_bias.grad()[static_cast<std::int64_t>(h)].item<double>() / slope, 1.0,
                    limit)
            << raw[h];
      }
    }
  }
}

TEST(SSDLayer, LimitsHoldInStepsAndWindowsAndStopTheGradient) {
  Rng rng(24);
  Mamba2Config c = small_layer();
  c.dt_limit_min = 0.1;
  c.dt_limit_max = 0.12;
  const auto layer = random_layer(c, rng);
  const Tensor u = random_tensor(rng, {2, 10, c.d_model});
  LayerTrace trace;
  LayerState state = zero_layer_state(c, 2);
  const Tensor out = layer->forward(u, &state, {}, &trace);
  EXPECT_GE(trace.dt.min().item<double>(), 0.1);
  EXPECT_LE(trace.dt.max().item<double>(), 0.12);
  const double at_a_limit =
      (trace.dt.eq(0.1).logical_or(trace.dt.eq(0.12))).to(at::kDouble).mean().item<double>();
  EXPECT_GT(at_a_limit, 0.5) << "the test needs limits that bind";
  const Outcome by_steps = steps(*layer, u, zero_layer_state(c, 2));
  EXPECT_LT(distance(by_steps.out, out), kSame);
  layer->in_proj->weight.mutable_grad() = Tensor();
  {
    const at::NoGradGuard no_grad;
    layer->dt_bias.fill_(5.0);  // every step size at the upper limit
  }
  layer->forward(u).square().sum().backward();
  EXPECT_EQ(layer->dt_bias.grad().abs().max().item<double>(), 0.0);
  EXPECT_GT(layer->A_log.grad().abs().max().item<double>(), 0.0) << "A goes on learning";
}

// ---------------------------------------------------------------- batches and repeats

void expect_equals_its_halves(std::int64_t B) {
  const at::NoGradGuard no_grad;
  Rng rng(25);
  Mamba2Config c = small_layer();
  c.d_model = 4;
  c.headdim = 2;
  c.d_state = 2;
  const auto layer = random_layer(c, rng, at::kFloat);
  const Tensor u = random_tensor(rng, {B, 8, c.d_model}, at::kFloat);
  const Outcome whole = window(*layer, u, zero_layer_state(c, B, at::kFloat));
  for (const std::int64_t half : {0, 1}) {
    const Outcome part =
        window(*layer, u.narrow(0, half * B / 2, B / 2), zero_layer_state(c, B / 2, at::kFloat));
    // Libraries may block a product differently by its size: float32 rounding, not bits.
    EXPECT_LT(distance(whole.out.narrow(0, half * B / 2, B / 2), part.out), 1e-6);
    EXPECT_LT(distance(whole.state.ssm.narrow(0, half * B / 2, B / 2), part.state.ssm), 1e-6);
  }
}

TEST(SSDLayer, ABatchOfShortWindowsEqualsItsHalves) { expect_equals_its_halves(4096); }

// Above the 65535 blocks of a grid at which GPU code of others fails.
TEST(SSDLayer, LongABatchOf70000ShortWindowsEqualsItsHalves) { expect_equals_its_halves(70000); }

TEST(SSDLayer, RepeatsItselfBitForBitGradientsIncluded) {
  Rng rng(26);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng, at::kFloat);
  const Tensor u = random_tensor(rng, {4, 37, c.d_model}, at::kFloat);
  std::vector<Tensor> first;
  for (int run = 0; run < 2; ++run) {
    layer->zero_grad();
    const Tensor out = layer->forward(u);
    out.square().sum().backward();
    std::vector<Tensor> seen{out.detach().clone()};
    for (const Tensor& p : layer->parameters()) seen.push_back(p.grad().clone());
    if (run == 0) {
      first = seen;
    } else {
      for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_TRUE(same_bits(seen[i], first[i])) << i;
    }
  }
}

// ---------------------------------------------------------------- refusals

TEST(SSDLayer, NamesBothDevicesAndTheTensor) {
  const Mamba2Config c = small_layer();
  SSDLayer layer(c, 0, at::kMeta);
  const Tensor u = at::zeros({1, 4, c.d_model});
  EXPECT_EQ(message_of([&] { layer.forward(u); }),
            "[ssd_layer.forward] u lies on cpu, but backbone.layers.0.mixer on meta");
  const Tensor there = at::zeros({1, 4, c.d_model}, at::TensorOptions(at::kMeta));
  LayerState here = zero_layer_state(c, 1, at::kFloat);
  EXPECT_EQ(message_of([&] { layer.forward(there, &here); }),
            "[ssd_layer.forward] state.conv lies on cpu, but backbone.layers.0.mixer on meta");
  WindowMarks marks;
  marks.lengths = at::ones({1}, at::kLong);
  EXPECT_EQ(message_of([&] { layer.forward(there, nullptr, marks); }),
            "[ssd_layer.forward] lengths lies on cpu, but backbone.layers.0.mixer on meta");
  marks = {};
  marks.seq_idx = at::ones({1, 4}, at::kLong);
  EXPECT_THAT(message_of([&] { layer.forward(there, nullptr, marks); }),
              HasSubstr("seq_idx lies on cpu"));
  EXPECT_THAT(message_of([&] { layer.step(u.select(1, 0), here); }),
              HasSubstr("[ssd_layer.step] u lies on cpu"));
}

TEST(SSDLayer, NamesShapesThatDoNotFit) {
  Rng rng(27);
  const Mamba2Config c = small_layer();
  const auto layer = random_layer(c, rng);
  const Tensor u = random_tensor(rng, {2, 4, c.d_model});
  EXPECT_EQ(message_of([&] { layer->forward(u.narrow(2, 0, 5)); }),
            "[ssd_layer.forward] u is [2, 4, 5], but must be [any, any, 12]");
  EXPECT_EQ(message_of([&] { layer->forward(u.narrow(1, 0, 0)); }),
            "[ssd_layer.forward] u has no tokens");
  LayerState wrong = zero_layer_state(c, 3);
  EXPECT_THAT(message_of([&] { layer->forward(u, &wrong); }), HasSubstr("state.conv is [3, "));
  LayerState narrow = zero_layer_state(c, 2, at::kFloat);
  EXPECT_THAT(message_of([&] { layer->forward(u, &narrow); }),
              HasSubstr("the state is Float and Float"));
  WindowMarks marks;
  marks.lengths = ints({4, std::int64_t{5}});
  EXPECT_EQ(message_of([&] { layer->forward(u, nullptr, marks); }),
            "[ssd_layer.forward] lengths[1] = 5 is outside [0, 4], the window's tokens");
  EXPECT_THROW(SSDLayer(c, 1, at::kCPU), ConfigError);
  EXPECT_THROW(SSDLayer(c, 0, at::kCPU, at::kHalf), ConfigError);
}

}  // namespace
}  // namespace foxhunt::nn
