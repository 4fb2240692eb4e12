// Both halves on the same records: a model in LibTorch and its weights in the engine.
#include "foxhunt/exporter/exporter.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/bundle/test_bundle.h"
#include "foxhunt/exporter/candidates.h"
#include "foxhunt/exporter/trained.h"
#include "foxhunt/features/test_bars.h"

namespace foxhunt::exporter {
namespace {

using bundle::WeightForm;

/// Two sessions with a hole; 400 records.
std::vector<market::Bar> a_market() {
  Rng rng(8);
  const UnixNanos start = parse_time("2013-10-07T22:00");
  std::vector<market::Bar> bars = features::test::random_bars(rng, start, 250);
  const auto next = features::test::random_bars(rng, start + std::chrono::hours{24}, 200);
  bars.erase(bars.begin() + 100, bars.begin() + 150);
  bars.insert(bars.end(), next.begin(), next.end());
  return bars;
}

struct Halves {
  explicit Halves(const model::Mamba2Config& config, std::uint64_t seed = 1)
      : out(bundle::test::small_bundle()) {
    out.config = config;
    model = std::make_shared<nn::Mamba2SSM>(config, out.head, at::Device(at::kCPU));
    model->initialise(seed);
    out.weights = weights_of(*model);
    bars = a_market();
    trained = answers_of(*model, out.context, bars);
  }
  engine::Rows rows() const {
    return {.bars = bars, .ready = trained.ready, .outputs = trained.outputs};
  }

  bundle::Bundle out;
  std::shared_ptr<nn::Mamba2SSM> model;
  std::vector<market::Bar> bars;
  TrainedAnswers trained;
};

model::Mamba2Config small(std::int64_t groups, model::GateNorm gate, bool everything) {
  model::Mamba2Config config;
  config.d_model = 24;
  config.n_layer = 2;
  config.d_state = 8;
  config.headdim = 6;
  config.ngroups = groups;
  config.gate_norm = gate;
  config.conv_bias = everything;
  config.proj_bias = everything;
  config.has_d = everything;
  config.dt_limit_min = everything ? 0.01 : 0.0;
  config.dt_limit_max = everything ? 0.05 : std::numeric_limits<double>::infinity();
  return config;
}

TEST(Exporter, TheEngineAnswersAsTheTrainedModelInEveryVariant) {
  for (const model::Mamba2Config& config :
       {model::Mamba2Config::default_hft(), small(1, model::GateNorm::kGateFirst, true),
        small(4, model::GateNorm::kGateFirst, false), small(2, model::GateNorm::kNormFirst, true),
        small(1, model::GateNorm::kNone, false)}) {
    const Halves halves(config);
    for (const WeightForm form :
         {WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8}) {
      const Candidate c = compare(halves.out, form, halves.rows());
      EXPECT_EQ(c.refused, "") << to_string(form);
      EXPECT_GT(c.parity.rows, 300);
      EXPECT_EQ(c.parity.sequences, 3);
      EXPECT_EQ(c.parity.rows + c.parity.warm_up_rows, 400);
      EXPECT_GT(c.parity.max_difference, 0.0) << "the two do not share code";
    }
  }
}

TEST(Exporter, NoBundleComesOfAModelThatAnswersOtherwise) {
  Halves halves(small(1, model::GateNorm::kGateFirst, true));
  halves.out.weights.at("backbone.layers.1.mixer.A_log")[1] += 1.0F;
  const Candidate c = compare(halves.out, WeightForm::kF32, halves.rows());
  EXPECT_THAT(c.refused, testing::HasSubstr("largest difference"));
}

TEST(Exporter, AWeightThatAFormCannotHoldRefusesTheForm) {
  Halves halves(small(1, model::GateNorm::kGateFirst, true));
  halves.out.weights.at("backbone.layers.0.mixer.in_proj.weight")[5] = 1e6F;
  EXPECT_THAT(compare(halves.out, WeightForm::kF16, halves.rows()).refused,
              testing::HasSubstr("cannot be held"));
}

TEST(Exporter, ARecordThatOneAloneAnswersRefusesTheForm) {
  Halves halves(small(1, model::GateNorm::kGateFirst, true));
  const auto first = std::ranges::find(halves.trained.ready, 1) - halves.trained.ready.begin();
  halves.trained.ready[static_cast<std::size_t>(first)] = 0;
  EXPECT_THAT(compare(halves.out, WeightForm::kF32, halves.rows()).refused,
              testing::HasSubstr("record " + std::to_string(first)));
}

TEST(Exporter, TimesEveryFormThatCanServe) {
  const Halves halves(small(1, model::GateNorm::kGateFirst, true));
  std::vector<Candidate> candidates{compare(halves.out, WeightForm::kF32, halves.rows()),
                                    {.form = WeightForm::kI8, .kernels = {}, .refused = "no"}};
  time_steps(halves.out, candidates);
  EXPECT_GT(candidates[0].step_us, 0.0);
  EXPECT_EQ(candidates[1].step_us, 0.0);
}

}  // namespace
}  // namespace foxhunt::exporter
