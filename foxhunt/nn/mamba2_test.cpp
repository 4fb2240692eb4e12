// Over budget: one suite over one class; its cases share the small models.
// The whole model: names, initial values, state, prediction, files, refusals.
#include "foxhunt/nn/mamba2.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "foxhunt/base/file.h"
#include "foxhunt/model/tensor_list.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/nn/test_tools.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using model::GateNorm;
using model::HeadConfig;
using model::HeadKind;
using model::Mamba2Config;
using testing::HasSubstr;

// ---------------------------------------------------------------- names

void expect_named_as_listed(const Mamba2Config& config, const HeadConfig& head) {
  const Mamba2SSM model(config, head, at::kMeta);
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> named, listed;
  for (const auto& item : model.named_parameters())
    named.emplace_back(item.key(), item.value().sizes().vec());
  for (const auto& info : model::tensor_list(config, head))
    listed.emplace_back(info.name, info.shape);
  EXPECT_EQ(named, listed);
}

TEST(Mamba2SSM, ParametersAreThoseOfTheTensorList) {
  for (const HeadKind kind : {HeadKind::kClassification, HeadKind::kRegression,
                              HeadKind::kQuantiles, HeadKind::kTokens}) {
    expect_named_as_listed(small_model(), head_of(kind));
  }
  expect_named_as_listed(Mamba2Config::default_hft(), {});
  expect_named_as_listed(Mamba2Config::standard(), {});
  HeadConfig untied = head_of(HeadKind::kTokens);
  untied.tied = false;
  expect_named_as_listed(small_model(), untied);
  Mamba2Config odd = small_model();
  odd.has_d = odd.conv_bias = false;
  odd.proj_bias = true;
  odd.gate_norm = GateNorm::kNone;
  expect_named_as_listed(odd, {});
}

// ---------------------------------------------------------------- initial values

/// Kolmogorov-Smirnov distance to the uniform distribution on [low, high].
double uniform_distance(const Tensor& sample, double low, double high) {
  const Tensor sorted =
      std::get<0>(((sample.flatten().to(at::kDouble) - low) / (high - low)).sort());
  const std::int64_t n = sorted.numel();
  const Tensor ranks = at::arange(n, at::kDouble);
  return std::max((sorted - ranks / n).abs().max().item<double>(),
                  ((ranks + 1) / n - sorted).abs().max().item<double>());
}

/// At n draws a right sample exceeds this once in about 10^7 (2 exp(-2 n d^2)).
double limit_for(std::int64_t n) { return std::sqrt(8.4 / static_cast<double>(n)); }

void expect_uniform(const Tensor& t, double low, double high, const char* name) {
  EXPECT_LT(uniform_distance(t, low, high), limit_for(t.numel())) << name;
}

void expect_initial_values(Mamba2SSM& model) {
  const Mamba2Config& c = model.config();
  const SSDLayer& layer = model.layer(1);
  const double root = 1.0 / std::sqrt(static_cast<double>(c.d_model));
  expect_uniform(layer.in_proj->weight, -root, root, "in_proj");
  expect_uniform(layer.conv1d->weight, -0.5, 0.5, "conv1d.weight");
  expect_uniform(layer.conv1d->bias, -0.5, 0.5, "conv1d.bias is not zeroed");
  const double out =
      1.0 / std::sqrt(static_cast<double>(c.d_inner())) / std::sqrt(static_cast<double>(c.n_layer));
  expect_uniform(layer.out_proj->weight, -out, out, "out_proj is divided by sqrt(n_layer)");
  expect_uniform(layer.A_log.exp(), 1.0, 16.0, "A");
  expect_uniform(at::softplus(layer.dt_bias).log(), std::log(0.001), std::log(0.1), "dt");
  EXPECT_TRUE(layer.D.eq(1.0).all().item<bool>());
  EXPECT_TRUE(layer.norm->weight.eq(1.0).all().item<bool>());
  const auto named = model.named_parameters();
  EXPECT_TRUE(named["head.bias"].eq(0.0).all().item<bool>());
  expect_uniform(named["head.weight"], -root, root, "head");
}

Mamba2Config wide() {
  Mamba2Config c;
  c.d_model = 256;
  c.n_layer = 4;
  c.headdim = 1;  // 512 heads: enough draws of A and dt
  c.d_state = 2;
  return c;
}

TEST(Mamba2SSM, StartsFromMambasDistributions) {
  Mamba2SSM model(wide(), HeadConfig{}, at::kCPU);
  expect_initial_values(model);
}

TEST(Mamba2SSM, KeepsItsValuesThroughAFile) {
  const auto path =
      std::filesystem::temp_directory_path() / ("foxhunt_init_" + std::to_string(::getpid()));
  save_weights(Mamba2SSM(wide(), HeadConfig{}, at::kCPU), path);
  const auto loaded = load_model(path, at::kCPU);
  std::filesystem::remove(path);
  expect_initial_values(*loaded);
}

TEST(Mamba2SSM, ASeedDecidesEveryValue) {
  Mamba2SSM a(small_model(), HeadConfig{}, at::kCPU);
  Mamba2SSM b(small_model(), HeadConfig{}, at::kCPU, at::kDouble);
  a.initialise(5);
  b.initialise(5);
  EXPECT_NE(weights_hash(a), weights_hash(b)) << "dtypes differ";
  for (const auto& item : a.named_parameters()) {
    EXPECT_TRUE(at::equal(item.value().to(at::kDouble), b.named_parameters()[item.key()]))
        << item.key();
  }
  const std::string five = weights_hash(a);
  a.initialise(6);
  EXPECT_NE(weights_hash(a), five);
  a.initialise(5);
  EXPECT_EQ(weights_hash(a), five);
  EXPECT_FALSE(at::equal(a.layer(0).in_proj->weight, a.layer(1).in_proj->weight))
      << "layers must differ";
}

// ---------------------------------------------------------------- one model, several ways to ask

TEST(Mamba2SSM, StepsPredictionsAndWindowsAgree) {
  const at::NoGradGuard no_grad;
  Rng rng(31);
  for (const HeadKind kind :
       {HeadKind::kClassification, HeadKind::kRegression, HeadKind::kQuantiles}) {
    Mamba2SSM model(small_model(), head_of(kind), at::kCPU);
    const Tensor x = random_tensor(rng, {1, 30, 5}, at::kFloat);
    Mamba2State state = model.zero_state(1);
    const Tensor whole = model.forward(x, state);
    EXPECT_EQ(whole.size(2), model.head_config().n_outputs());
    Mamba2State stepped = model.zero_state(1);
    for (std::int64_t t = 0; t < 30; ++t) {
      const Tensor row = model.step(x.select(1, t), stepped);
      const Tensor want = whole.select(1, t);
      EXPECT_LT(distance(row, want), 2e-6);  // float32, two forms of one sum
      const Tensor input = x[0][t].contiguous();
      const auto fast = model.predict_single_fast({input.const_data_ptr<float>(), 5});
      ASSERT_EQ(static_cast<std::int64_t>(fast.size()), want.numel());
      for (std::size_t k = 0; k < fast.size(); ++k) {
        // float32, sums in another order, weights of norms multiplied in beforehand
        EXPECT_NEAR(fast[k], row[0][static_cast<std::int64_t>(k)].item<float>(), 2e-6);
      }
    }
    EXPECT_LT(distance(stepped.layers[1].ssm, state.layers[1].ssm), 2e-6);
    EXPECT_EQ(stepped.position[0].item<std::int64_t>(), 30);
    EXPECT_EQ(state.position[0].item<std::int64_t>(), 30);
  }
}

TEST(Mamba2SSM, ForgetsItsPredictionStateOnRequest) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  const std::vector<float> row{0.1F, -0.4F, 1.0F, 0.3F, -1.0F};
  const float first = model.predict_single_fast(row)[0];
  const float second = model.predict_single_fast(row)[0];
  EXPECT_NE(first, second) << "the state matters";
  model.reset_prediction_state();
  EXPECT_EQ(model.predict_single_fast(row)[0], first);
  const PerformanceMetrics metrics = model.performance_metrics();
  EXPECT_EQ(metrics.predictions, 3);
  EXPECT_GT(metrics.p50_us, 0.0);
  EXPECT_GE(metrics.p99_us, metrics.p50_us);
  EXPECT_GT(metrics.rows_per_second, 0.0);
  EXPECT_EQ(metrics.parameters, model::parameter_count(model.config(), model.head_config()));
}

TEST(Mamba2SSM, PredictsWithTheWeightsOfTheMoment) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  const std::vector<float> row{1.0F, 1.0F, 1.0F, 1.0F, 1.0F};
  const float before = model.predict_single_fast(row)[0];
  model.initialise(99);
  model.reset_prediction_state();
  EXPECT_NE(model.predict_single_fast(row)[0], before);
}

TEST(Mamba2SSM, KeepsPositionsByRowThroughPaddingPackingAndResets) {
  const at::NoGradGuard no_grad;
  Rng rng(32);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  Mamba2State state = model.zero_state(2);
  const Tensor x = random_tensor(rng, {2, 6, 5}, at::kFloat);
  WindowMarks marks;
  marks.lengths = ints({6, 2});
  model.forward(x, state, marks);
  EXPECT_TRUE(at::equal(state.position, ints({6, 2})));
  marks = {};
  marks.seq_idx = ints({0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1}).view({2, 6});
  model.forward(x, state, marks);
  EXPECT_TRUE(at::equal(state.position, ints({12, 4})));
  state.reset_rows(ints({0, 1}).to(at::kBool));
  EXPECT_TRUE(at::equal(state.position, ints({12, 0})));
}

TEST(Mamba2SSM, AnErrorLeavesTheStateAsItWas) {
  Rng rng(33);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  Mamba2State state = model.zero_state(1);
  const Tensor x = random_tensor(rng, {1, 3, 5}, at::kFloat);
  model.forward(x, state);
  const Mamba2State before = state.clone();
  state.layers[1].ssm =
      state.layers[1].ssm.narrow(2, 0, 3);  // found in the second layer, after the first ran
  EXPECT_THAT(message_of([&] { model.forward(x, state); }), HasSubstr("state.ssm is [1, 4, 3, 4]"));
  EXPECT_TRUE(at::equal(state.layers[0].ssm, before.layers[0].ssm));
  EXPECT_TRUE(at::equal(state.position, before.position));
}

TEST(Mamba2SSM, PaddingIsZeroInAnswersWhateverItHeld) {
  const at::NoGradGuard no_grad;
  Rng rng(34);
  Mamba2SSM model(small_model(), head_of(HeadKind::kClassification), at::kCPU);
  Tensor x = random_tensor(rng, {2, 9, 5}, at::kFloat);
  x[1].narrow(0, 4, 5).fill_(std::nan(""));
  WindowMarks marks;
  marks.lengths = ints({9, 4});
  Mamba2State state = model.zero_state(2);
  const Tensor out = model.forward(x, state, marks);
  EXPECT_EQ(out[1].narrow(0, 4, 5).abs().max().item<float>(), 0.0F);
  Mamba2State alone = model.zero_state(1);
  const Tensor row = model.forward(x.narrow(0, 1, 1).narrow(1, 0, 4), alone);
  EXPECT_LT(distance(out[1].narrow(0, 0, 4), row[0]), 2e-6);
  EXPECT_LT(distance(state.layers[1].ssm[1], alone.layers[1].ssm[0]), 2e-6);
}

// ---------------------------------------------------------------- state

TEST(Mamba2State, CopiesShareNothingAndResetsTouchTheirRowsOnly) {
  Rng rng(35);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  Mamba2State state = model.zero_state(3);
  const Tensor x = random_tensor(rng, {3, 7, 5}, at::kFloat);
  const at::NoGradGuard no_grad;
  model.forward(x, state);
  const Mamba2State copy = state.clone();
  state.layers[0].ssm.fill_(9.0F);
  EXPECT_LT(copy.layers[0].ssm.abs().max().item<float>(), 9.0F);
  Mamba2State reset = copy.clone();
  reset.reset_rows(ints({0, 1, 0}).to(at::kBool));
  for (const std::int64_t row : {0, 2})
    EXPECT_TRUE(at::equal(reset.layers[1].conv[row], copy.layers[1].conv[row]));
  EXPECT_EQ(reset.layers[1].conv[1].abs().max().item<float>(), 0.0F);
  EXPECT_EQ(reset.layers[0].ssm[1].abs().max().item<float>(), 0.0F);
  EXPECT_GT(copy.layers[0].ssm[1].abs().max().item<float>(), 0.0F);
  reset.reset();
  EXPECT_EQ(reset.layers[0].ssm.abs().max().item<float>(), 0.0F);
}

TEST(Mamba2State, CarriesGradientsAcrossCallsUntilDetached) {
  Rng rng(36);
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  const auto gradient = [&](bool cut) {
    Rng same(37);
    Tensor first = random_tensor(same, {1, 5, 5}, at::kFloat).requires_grad_();
    Mamba2State state = model.zero_state(1);
    model.forward(first, state);
    if (cut) state.detach();
    model.forward(random_tensor(same, {1, 5, 5}, at::kFloat), state).sum().backward();
    return first.grad();
  };
  const Tensor through = gradient(false);
  ASSERT_TRUE(through.defined());
  EXPECT_GT(through.abs().max().item<float>(), 0.0F);
  EXPECT_FALSE(gradient(true).defined());
}

TEST(Mamba2State, NamesBothSidesOfAMismatch) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  const Tensor x = at::zeros({2, 4, 5});
  Mamba2State three = model.zero_state(3);
  EXPECT_EQ(message_of([&] { model.forward(x, three); }),
            "[mamba2.forward] the state has 3 rows, but the input 2");
  Mamba2State meta = Mamba2State::zeros(model.config(), 2, at::kMeta);
  EXPECT_EQ(message_of([&] { model.forward(x, meta); }),
            "[mamba2.forward] the state lies on meta, but the model on cpu");
  Mamba2Config deeper = small_model();
  deeper.n_layer = 3;
  Mamba2State deep = Mamba2State::zeros(deeper, 2, at::kCPU);
  EXPECT_EQ(message_of([&] { model.step(x.select(1, 0), deep); }),
            "[mamba2.step] the state has 3 layers, but the model 2");
  Mamba2State wide_state = Mamba2State::zeros(model.config(), 2, at::kCPU, at::kDouble);
  EXPECT_EQ(message_of([&] { model.forward(x, wide_state); }),
            "[mamba2.forward] the state is Double, but the model Float");
  EXPECT_THROW(Mamba2State::zeros(small_model(), 0, at::kCPU), ShapeError);
  EXPECT_THROW(Mamba2State::zeros(small_model(), 1, at::kCPU, at::kBFloat16), ConfigError);
  EXPECT_THAT(message_of([&] { three.reset_rows(at::zeros({2}, at::kBool)); }),
              HasSubstr("rows is [2]"));
}

// ---------------------------------------------------------------- refusals

TEST(Mamba2SSM, NamesBothDevicesAndTheTensor) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kMeta);
  Mamba2State state = model.zero_state(1);
  EXPECT_EQ(message_of([&] {
              model.forward(at::zeros({1, 4, 5}), state);
            }),
            "[mamba2.forward] x lies on cpu, but backbone.in_proj.weight on meta");
  EXPECT_EQ(message_of([&] {
              model.step(at::zeros({1, 5}), state);
            }),
            "[mamba2.step] x lies on cpu, but backbone.in_proj.weight on meta");
  EXPECT_THAT(message_of([&] { model.predict_single_fast(std::vector<float>(5)); }),
              HasSubstr("meta"));
  EXPECT_THAT(message_of([&] { model.to(at::kCPU); }),
              HasSubstr("was built on meta as Float and stays there; for cpu"));
}

TEST(Mamba2SSM, NamesShapesAndTypesThatDoNotFit) {
  Mamba2SSM model(small_model(), head_of(HeadKind::kRegression), at::kCPU);
  Mamba2State state = model.zero_state(1);
  EXPECT_EQ(message_of([&] {
              model.forward(at::zeros({1, 4, 6}), state);
            }),
            "[mamba2.forward] x is [1, 4, 6], but must be [any, any, 5]");
  EXPECT_EQ(message_of([&] {
              model.forward(at::zeros({1, 4, 5}, at::kDouble), state);
            }),
            "[mamba2.forward] x is Double, but must be Float");
  EXPECT_EQ(message_of([&] {
              model.forward(at::zeros({1, 0, 5}), state);
            }),
            "[mamba2.forward] x has no tokens");
  EXPECT_EQ(message_of([&] { model.predict_single_fast(std::vector<float>(4)); }),
            "[mamba2.predict_single_fast] 4 features, but the model takes 5");
  HeadConfig bad = head_of(HeadKind::kQuantiles);
  bad.quantiles = {0.9, 0.1};
  EXPECT_THROW(Mamba2SSM(small_model(), bad, at::kCPU), ConfigError);
  Mamba2SSM tokens(small_model(), head_of(HeadKind::kTokens), at::kCPU);
  EXPECT_THROW(tokens.predict_single_fast(std::vector<float>(5)), ConfigError);
  EXPECT_EQ(message_of([&] {
              tokens.forward(at::zeros({1, 4}));
            }),
            "[mamba2.forward] x is Float, but must be Long");
}

}  // namespace
}  // namespace foxhunt::nn
