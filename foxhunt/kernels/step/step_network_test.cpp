// One token at a time against the recurrence over the whole window in float64.
#include "foxhunt/kernels/step/step_network.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/kernels/reference_mixer.h"
#include "foxhunt/kernels/table_test.h"

namespace foxhunt::kernels {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Sizes {
  StepShape shape;
  std::int64_t layers, features, outputs;
};

StepShape shape_of(std::int64_t D, std::int64_t H, std::int64_t P, std::int64_t G, std::int64_t N,
                   std::int64_t W, Gate gate = Gate::kGateFirst, float low = 0.0F,
                   float high = kInf) {
  return {.d_model = D,
          .heads = H,
          .headdim = P,
          .groups = G,
          .d_state = N,
          .conv_width = W,
          .gate = gate,
          .eps = 1e-5F,
          .dt_low = low,
          .dt_high = high};
}

const Sizes kSizes[] = {
    {shape_of(64, 4, 32, 1, 16, 4), 4, 16, 3},
    {shape_of(5, 2, 3, 1, 7, 4), 2, 3, 1},
    {shape_of(33, 6, 11, 2, 5, 3, Gate::kNormFirst), 2, 7, 4},
    {shape_of(16, 8, 16, 8, 33, 2, Gate::kGateFirst, 0.05F, 0.4F), 1, 1, 2},
    {shape_of(24, 3, 20, 3, 16, 1, Gate::kNoNorm), 2, 40, 33},
    {shape_of(17, 1, 130, 1, 100, 5, Gate::kGateFirst, 0.0F, 0.2F), 1, 16, 3},
    {shape_of(31, 20, 8, 2, 8, 4, Gate::kNormFirst), 1, 5, 3},
};

/// Weights that a model could have, as vectors that live as long as this.
class Model {
 public:
  explicit Model(const Sizes& sizes, std::uint64_t seed = 3) : sizes_(sizes), rng_(seed) {
    const StepShape& s = sizes.shape;
    const auto root = [](std::int64_t n) { return 1.0 / std::sqrt(static_cast<double>(n)); };
    weights_.input = draw(s.d_model * sizes.features, root(sizes.features));
    weights_.input_bias = draw(s.d_model, 0.1);
    for (std::int64_t i = 0; i < sizes.layers; ++i) {
      const bool odd = i % 2 == 1;  // a layer with every optional part, a layer with none
      StepWeights::Layer l{};
      l.norm = draw(s.d_model, 1.0, 0.5);
      l.in_proj = draw(projected_width(s) * s.d_model, 2 * root(s.d_model));
      l.in_bias = odd ? draw(projected_width(s), 0.1) : nullptr;
      l.conv = draw(conv_channels(s) * s.conv_width, 0.5);
      l.conv_bias = odd ? nullptr : draw(conv_channels(s), 0.5);
      l.dt_bias = draw(s.heads, 1.0, -2.0);
      l.A_log = draw(s.heads, 1.5);
      l.D = odd ? nullptr : draw(s.heads, 1.0);
      l.gate_norm = s.gate == Gate::kNoNorm ? nullptr : draw(inner_width(s), 1.0, 0.5);
      l.out_proj = draw(s.d_model * inner_width(s), root(inner_width(s)));
      l.out_bias = odd ? draw(s.d_model, 0.1) : nullptr;
      weights_.layers.push_back(l);
    }
    weights_.norm_f = draw(s.d_model, 1.0, 0.5);
    weights_.head = draw(sizes.outputs * s.d_model, root(s.d_model));
    weights_.head_bias = draw(sizes.outputs, 0.1);
  }

  StepNetwork network(const StepKernels& kernels, WeightType type = WeightType::kF32) const {
    return {sizes_.shape, sizes_.features, sizes_.outputs,
            weights_,     kernels,         product_for(kernels, type)};
  }
  std::vector<float> rows(std::int64_t tokens) {
    return random_floats(rng_, tokens * sizes_.features, -2.0, 2.0);
  }
  /// [T, K] over the whole window, every layer as in_proj, mixer and out_proj in float64.
  std::vector<double> exact(const std::vector<float>& rows) const {
    const StepShape& s = sizes_.shape;
    const std::int64_t T = static_cast<std::int64_t>(rows.size()) / sizes_.features;
    std::vector<double> r = linear({rows.begin(), rows.end()}, sizes_.features, weights_.input,
                                   weights_.input_bias, s.d_model);
    for (const StepWeights::Layer& w : weights_.layers) {
      ReferenceMixerInput in{
          .shape = {.ssd = {s.heads, s.headdim, s.groups, s.d_state},
                    .width = s.conv_width,
                    .chunk = 1,
                    .gate = s.gate,
                    .eps = static_cast<double>(s.eps),
                    .dt_low = static_cast<double>(s.dt_low),
                    .dt_high = static_cast<double>(s.dt_high)},
          .batch = 1,
          .tokens = T,
          .proj = linear(normed(r, w.norm), s.d_model, w.in_proj, w.in_bias, projected_width(s)),
          .conv = {},
          .conv_bias = doubles(w.conv_bias, conv_channels(s)),
          .dt_bias = doubles(w.dt_bias, s.heads),
          .A = {},
          .D = doubles(w.D, s.heads),
          .norm = doubles(w.gate_norm, inner_width(s)),
          .conv_state = {},
          .ssm_state = {},
          .segments = {},
          .lengths = {}};
      for (std::int64_t k = 0; k < s.conv_width; ++k) {
        for (std::int64_t c = 0; c < conv_channels(s); ++c) {
          in.conv.push_back(static_cast<double>(w.conv[c * s.conv_width + k]));
        }
      }
      for (std::int64_t h = 0; h < s.heads; ++h) {
        in.A.push_back(-std::exp(static_cast<double>(w.A_log[h])));
      }
      const std::vector<double> y = linear(reference_mixer_forward(in).out, inner_width(s),
                                           w.out_proj, w.out_bias, s.d_model);
      for (std::size_t i = 0; i < r.size(); ++i) r[i] += y[i];
    }
    return linear(normed(r, weights_.norm_f), s.d_model, weights_.head, weights_.head_bias,
                  sizes_.outputs);
  }

 private:
  const float* draw(std::int64_t n, double spread, double around = 0.0) {
    held_.push_back(random_floats(rng_, n, around - spread, around + spread));
    return held_.back().data();
  }
  static std::vector<double> doubles(const float* p, std::int64_t n) {
    return p == nullptr ? std::vector<double>{} : std::vector<double>{p, p + n};
  }
  static std::vector<double> linear(const std::vector<double>& x, std::int64_t in, const float* w,
                                    const float* b, std::int64_t out) {
    std::vector<double> y;
    for (std::size_t t = 0; t < x.size(); t += static_cast<std::size_t>(in)) {
      for (std::int64_t o = 0; o < out; ++o) {
        double sum = b == nullptr ? 0.0 : static_cast<double>(b[o]);
        for (std::int64_t k = 0; k < in; ++k) {
          sum += static_cast<double>(w[o * in + k]) * x[t + static_cast<std::size_t>(k)];
        }
        y.push_back(sum);
      }
    }
    return y;
  }
  std::vector<double> normed(const std::vector<double>& r, const float* weight) const {
    const auto D = static_cast<std::size_t>(sizes_.shape.d_model);
    std::vector<double> u(r.size());
    for (std::size_t t = 0; t < r.size(); t += D) {
      double squares = 0;
      for (std::size_t i = 0; i < D; ++i) squares += r[t + i] * r[t + i];
      const double gain =
          1.0 / std::sqrt(squares / static_cast<double>(D) + static_cast<double>(sizes_.shape.eps));
      for (std::size_t i = 0; i < D; ++i)
        u[t + i] = r[t + i] * gain * static_cast<double>(weight[i]);
    }
    return u;
  }

  Sizes sizes_;
  Rng rng_;
  std::vector<std::vector<float>> held_;
  StepWeights weights_;
};

void feed(StepStream& stream, const std::vector<float>& rows, std::int64_t t) {
  const std::span<float> to = stream.features();
  std::copy_n(rows.begin() + t * static_cast<std::int64_t>(to.size()), to.size(), to.begin());
}

class StepNetworkTest : public testing::TestWithParam<const StepKernels*> {
 protected:
  void SetUp() override {
    if (!GetParam()->runs_here()) GTEST_SKIP() << GetParam()->name << " does not run on this CPU";
  }
};

TEST_P(StepNetworkTest, AnswersAsTheWindowDoesOnEveryShape) {
  constexpr std::int64_t kTokens = 40;
  for (const Sizes& sizes : kSizes) {
    Model model(sizes);
    const StepNetwork network = model.network(*GetParam());
    StepStream stream(network);
    const std::vector<float> rows = model.rows(kTokens);
    const std::vector<double> want = model.exact(rows);
    double scale = 0;
    double worst = 0;
    for (std::int64_t t = 0; t < kTokens; ++t) {
      feed(stream, rows, t);
      const std::span<const float> out = stream.step();
      for (std::size_t k = 0; k < out.size(); ++k) {
        const double exact = want[static_cast<std::size_t>(t) * out.size() + k];
        ASSERT_TRUE(std::isfinite(out[k]));
        scale = std::max(scale, std::abs(exact));
        worst = std::max(worst, std::abs(static_cast<double>(out[k]) - exact));
      }
    }
    // float32 through up to four layers and norms: a few dozen roundings of 6e-8, relative to the
    // largest output.
    EXPECT_LT(worst / scale, 5e-6) << "d_model " << sizes.shape.d_model;
  }
}

TEST_P(StepNetworkTest, AnswerAndThenAdvanceAreOneStepBitForBit) {
  for (const Sizes& sizes : kSizes) {
    Model model(sizes);
    const StepNetwork network = model.network(*GetParam());
    StepStream once(network);
    StepStream twice(network);
    const std::vector<float> rows = model.rows(20);
    for (std::int64_t t = 0; t < 20; ++t) {
      feed(once, rows, t);
      feed(twice, rows, t);
      const std::span<const float> a = once.step();
      std::vector<float> before(static_cast<std::size_t>(twice.state_size()));
      twice.save(before);
      const std::span<const float> b = twice.answer();
      std::vector<float> after(before.size());
      twice.save(after);
      ASSERT_EQ(before, after) << "an answer only reads";
      twice.advance();
      ASSERT_TRUE(std::ranges::equal(a, b)) << "token " << t;
    }
    std::vector<float> one(static_cast<std::size_t>(once.state_size()));
    std::vector<float> two(one.size());
    once.save(one);
    twice.save(two);
    EXPECT_EQ(one, two);
    EXPECT_EQ(twice.position(), 20);
  }
}

TEST_P(StepNetworkTest, StreamsTogetherGiveTheBitsOfEachAlone) {
  for (const WeightType type :
       {WeightType::kF32, WeightType::kF16, WeightType::kBF16, WeightType::kI8}) {
    for (const Sizes& sizes : kSizes) {
      Model model(sizes);
      const StepNetwork network = model.network(*GetParam(), type);
      for (std::size_t count = 1; count <= kMostStreams; ++count) {
        std::vector<StepStream> alone(count, StepStream(network));
        std::vector<StepStream> together(count, StepStream(network));
        std::vector<StepStream*> pointers;
        pointers.reserve(count);
        for (StepStream& stream : together) pointers.push_back(&stream);
        for (std::int64_t t = 0; t < 6; ++t) {
          for (std::size_t i = 0; i < count; ++i) {
            const std::vector<float> row = model.rows(1);
            feed(alone[i], row, 0);
            feed(together[i], row, 0);
          }
          StepStream::step_together(pointers);
          for (std::size_t i = 0; i < count; ++i) {
            ASSERT_TRUE(std::ranges::equal(alone[i].step(), together[i].last()));
          }
        }
      }
    }
  }
}

TEST_P(StepNetworkTest, AStateThatWasSavedGoesOnWithTheSameBits) {
  for (const Sizes& sizes : kSizes) {
    Model model(sizes);
    const StepNetwork network = model.network(*GetParam());
    for (const std::int64_t cut : {0, 1, 2, 3, 4, 11}) {
      const std::vector<float> rows = model.rows(20);
      StepStream whole(network);
      for (std::int64_t t = 0; t < cut; ++t) {
        feed(whole, rows, t);
        whole.step();
      }
      std::vector<float> state(static_cast<std::size_t>(whole.state_size()));
      whole.save(state);
      StepStream restored(network);
      feed(restored, rows, 0);  // not empty before
      restored.step();
      restored.restore(state);
      StepStream copy(whole);
      for (std::int64_t t = cut; t < 20; ++t) {
        feed(whole, rows, t);
        feed(restored, rows, t);
        feed(copy, rows, t);
        const std::span<const float> want = whole.step();
        ASSERT_TRUE(std::ranges::equal(want, restored.step())) << "cut " << cut << ", token " << t;
        ASSERT_TRUE(std::ranges::equal(want, copy.step())) << "cut " << cut << ", token " << t;
      }
      whole.reset();
      StepStream fresh(network);
      feed(whole, rows, 5);
      feed(fresh, rows, 5);
      EXPECT_TRUE(std::ranges::equal(whole.step(), fresh.step())) << "reset forgets everything";
    }
  }
}

TEST_P(StepNetworkTest, NarrowWeightsStayWithinWhatTheyCanHold) {
  const Sizes& sizes = kSizes[0];
  Model model(sizes);
  const std::vector<float> rows = model.rows(200);
  const std::vector<double> want = model.exact(rows);
  // Rounding of weights and inputs through four layers: about 2^-11, 2^-8 and 1/127 each.
  const std::pair<WeightType, double> bounds[] = {
      {WeightType::kF16, 3e-3}, {WeightType::kBF16, 2e-2}, {WeightType::kI8, 6e-2}};
  for (const auto& [type, bound] : bounds) {
    const StepNetwork network = model.network(*GetParam(), type);
    StepStream stream(network);
    double scale = 0;
    double worst = 0;
    for (std::int64_t t = 0; t < 200; ++t) {
      feed(stream, rows, t);
      const std::span<const float> out = stream.step();
      for (std::size_t k = 0; k < out.size(); ++k) {
        const double exact = want[static_cast<std::size_t>(t) * out.size() + k];
        scale = std::max(scale, std::abs(exact));
        worst = std::max(worst, std::abs(static_cast<double>(out[k]) - exact));
      }
    }
    EXPECT_LT(worst / scale, bound) << to_string(type);
    EXPECT_GT(worst / scale, 1e-6) << to_string(type) << " is not narrower than float";
  }
}

TEST_P(StepNetworkTest, CountsTheBytesOfAStep) {
  Model model(kSizes[0]);
  const StepNetwork wide = model.network(*GetParam());
  // Parameters: 4 x (292 x 64 + 64 x 128 + 160 x 5 + 3 x 4 + norms) + the ends, before padding.
  EXPECT_GE(wide.weight_bytes(), 4 * (4 * (292 * 64 + 64 * 128 + 160 * 5 + 12) + 64 * 16 + 3 * 64));
  EXPECT_LE(wide.weight_bytes(),
            4 * (4 * (320 * 64 + 64 * 128 + 160 * 5 + 96) + 64 * 16 + 32 * 64));
  EXPECT_EQ(wide.state_bytes(), 4 * 4 * (128 * 16 + 3 * 160));
  EXPECT_LT(model.network(*GetParam(), WeightType::kI8).weight_bytes(), wide.weight_bytes() / 3);
}

TEST_P(StepNetworkTest, LongTenMillionTokensOfAQuietMarketDoNotDrift) {
  if (std::string(GetParam()->name) == "scalar") GTEST_SKIP() << "the same sums, ten times slower";
  const Sizes& sizes = kSizes[0];
  Model model(sizes);
  const StepNetwork network = model.network(*GetParam());
  StepStream stream(network);
  const std::vector<float> row = model.rows(1);
  // A constant input has a constant answer once the slowest head has forgotten: the end of a
  // window of 20,000 in float64 stands for all that follows.
  std::vector<float> rows;
  for (int t = 0; t < 20'000; ++t) rows.insert(rows.end(), row.begin(), row.end());
  const std::vector<double> want = model.exact(rows);
  feed(stream, row, 0);
  for (std::int64_t t = 0; t < 10'000'000; ++t) stream.step();
  const std::span<const float> out = stream.step();
  for (std::size_t k = 0; k < out.size(); ++k) {
    EXPECT_NEAR(static_cast<double>(out[k]), want[want.size() - out.size() + k], 5e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Built, StepNetworkTest,
                         testing::ValuesIn(built_step_kernels().begin(),
                                           built_step_kernels().end()),
                         [](const auto& table) { return std::string(table.param->name); });

}  // namespace
}  // namespace foxhunt::kernels
