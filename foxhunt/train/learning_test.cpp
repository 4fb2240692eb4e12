// What the model can learn, and what it must not: a planted signal up to the best possible
// forecast, nothing from shuffled labels, and a memory that a model without one cannot have.
#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "foxhunt/market/synthetic.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/test_data.h"
#include "foxhunt/train/training_test_data.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kHorizon = 6;
constexpr std::int64_t kDeadZoneTicks = 1;

model::Mamba2Config small_model() {
  model::Mamba2Config config;
  config.d_model = 32;
  config.n_layer = 2;
  config.d_state = 16;
  config.headdim = 16;
  config.chunk_size = 32;
  config.dt_limit_min = 1e-6;
  config.dt_limit_max = 1.0;
  return config;
}

struct Task {
  SequenceSet set;
  Split split;
  features::Normalizer normalizer;
  WindowConfig windows{.length = 128, .burn_in = 16};
};

struct Trained {
  std::unique_ptr<nn::Mamba2SSM> model;
  FitReport report;
};

Trained fit(const Task& task, std::int64_t epochs, double lr = 1e-2) {
  const model::HeadConfig head{
      .n_features = static_cast<std::int64_t>(task.set.schema.columns.size()), .n_classes = 3};
  Trained trained{std::make_unique<nn::Mamba2SSM>(small_model(), head, at::kCPU), {}};
  trained.model->initialise(1);
  TrainConfig config;
  config.epochs = epochs;
  config.batch_size = 8;
  config.schedule.lr = lr;
  config.patience = 0;
  config.optimizer.weight_decay = 1.0;
  Mamba2SequenceModel sequence(*trained.model, config.a_min, config.a_max);
  WindowTrainer trainer(sequence,
                        {.set = task.set,
                         .split = task.split,
                         .normalizer = task.normalizer,
                         .windows = task.windows},
                        config, Rng(1));
  trained.report = trainer.fit({}, ProgressMode::kOff);
  return trained;
}

/// Calls each(sequence, row, predicted class) for every labelled row of the test.
void for_each_answer(const Task& task, SequenceModel& model,
                     const std::function<void(const Sequence&, std::size_t, std::int64_t)>& each) {
  const BatchFiller filler(task.set, task.split, task.normalizer, Part::kTest);
  Batch batch;
  for (const Window& window : whole_sequences(task.set.sequences, task.split, Part::kTest)) {
    filler.fill({&window, 1}, 0, batch);
    const at::Tensor best =
        model.answer(upload(batch, 0, 1, {}, at::kCPU).x).argmax(-1).contiguous();
    for (std::int64_t t = 0; t < window.length; ++t) {
      if (batch.mask[static_cast<std::size_t>(t)] == 0.0F) continue;
      each(task.set.sequences[static_cast<std::size_t>(window.sequence)],
           static_cast<std::size_t>(t), best.const_data_ptr<std::int64_t>()[t]);
    }
  }
}

double accuracy(const Task& task, SequenceModel& model) {
  double right = 0;
  double rows = 0;
  for_each_answer(task, model,
                  [&](const Sequence& sequence, std::size_t t, std::int64_t predicted) {
                    right += sequence.labels.classes[t] == predicted ? 1 : 0;
                    rows += 1;
                  });
  return right / rows;
}

struct PlantedTask {
  Task task;
  market::SyntheticConfig config;
  std::map<UnixNanos, std::int64_t> state;  ///< latent state by bar start
};

PlantedTask planted_task() {
  const market::SyntheticConfig config{.kind = market::SyntheticKind::kPlanted, .bars = 40'000};
  Rng rng(11);
  const auto sessions = market::Calendar::for_product("ES").sessions_between(
      parse_time("2022-03-01"), parse_time("2022-08-01"));
  const auto market = make_synthetic(config, market::contract_for_product("ES"), sessions, rng);
  SequenceSet set = test::build(market.bars, test::tick_labels(kHorizon, kDeadZoneTicks),
                                features::FeatureConfig{});
  Split split = make_split({.train_fraction = 0.7, .valid_fraction = 0.15}, set.sequences);
  features::Normalizer normalizer = fit_normalizer(set, split, 5.0);
  PlantedTask planted{{std::move(set), std::move(split), std::move(normalizer)}, config, {}};
  for (std::size_t i = 0; i < market.bars.size(); ++i)
    planted.state[market.bars[i].start] = market.state[i];
  return planted;
}

TEST(Learning, APlantedSignalIsFoundUpToThreePointsOfTheBestForecast) {
  const PlantedTask planted = planted_task();
  const Trained trained = fit(planted.task, 12);
  const market::SyntheticDynamics dynamics(planted.config);
  // Scored by the true probabilities behind each row: the draw of the outcomes adds no noise to the
  // comparison.
  double reached = 0;
  std::vector<std::int64_t> states;
  Mamba2SequenceModel model(*trained.model, 0.1, 1e3);
  for_each_answer(
      planted.task, model, [&](const Sequence& sequence, std::size_t t, std::int64_t predicted) {
        const std::int64_t m = planted.state.at(sequence.bar_start[t]);
        reached +=
            dynamics.outcome(m, kHorizon, kDeadZoneTicks)[static_cast<std::size_t>(predicted)];
        states.push_back(m);
      });
  reached /= static_cast<double>(states.size());
  const market::BayesRate best = dynamics.bayes_rate(states, kHorizon, kDeadZoneTicks);
  EXPECT_GT(states.size(), 4000U);
  RecordProperty("reached", std::to_string(reached));
  EXPECT_GT(reached, best.accuracy - 0.03)
      << "best " << best.accuracy << ", most frequent class " << best.prior_accuracy;
  EXPECT_LE(reached, best.accuracy + 1e-12)
      << "nothing beats the best forecast: the score itself is wrong";
}

TEST(Learning, ShuffledLabelsShowNoEdge) {
  PlantedTask planted = planted_task();
  // Labels are dealt anew among the rows of each part: shares stay, every relation to the rows is
  // gone.
  Rng rng(5);
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest}) {
    std::vector<std::int8_t> classes;
    const auto each = [&](auto&& what) {
      for (std::size_t s = 0; s < planted.task.set.sequences.size(); ++s) {
        Labels& labels = planted.task.set.sequences[s].labels;
        for (std::size_t t = 0; t < labels.valid.size(); ++t) {
          if (planted.task.split.parts[s][t] == part && labels.valid[t] != 0)
            what(labels.classes[t]);
        }
      }
    };
    each([&](std::int8_t& c) { classes.push_back(c); });
    rng.shuffle(classes);
    std::size_t next = 0;
    each([&](std::int8_t& c) { c = classes[next++]; });
  }
  const Trained trained = fit(planted.task, 4);
  Mamba2SequenceModel model(*trained.model, 0.1, 1e3);
  std::array<double, 3> counts{};
  for_each_answer(planted.task, model, [&](const Sequence& sequence, std::size_t t, std::int64_t) {
    counts[static_cast<std::size_t>(sequence.labels.classes[t])] += 1;
  });
  const double rows = counts[0] + counts[1] + counts[2];
  const double most_frequent = *std::max_element(counts.begin(), counts.end()) / rows;
  // Four standard errors of an accuracy of about a third over these rows.
  EXPECT_LT(accuracy(planted.task, model), most_frequent + 4 * std::sqrt(0.25 / rows));
}

/// logits = x W + b: no memory at all.
class Memoryless final : public SequenceModel {
 public:
  at::Device device() const override { return at::kCPU; }
  const model::HeadConfig& head() const override { return head_; }
  NamedParameters parameters() override { return {{"w", weight_}, {"b", bias_}}; }
  at::Tensor forward(const at::Tensor& x) override { return at::linear(x, weight_, bias_); }
  at::Tensor answer(const at::Tensor& x) override {
    const at::NoGradGuard no_grad;
    return forward(x);
  }

 private:
  model::HeadConfig head_{.n_features = 2, .n_classes = 3};
  at::Tensor weight_ = at::zeros({3, 2}, at::TensorOptions(at::kFloat)).requires_grad_();
  at::Tensor bias_ = at::zeros({3}, at::TensorOptions(at::kFloat)).requires_grad_();
};

// Selective copy: now and then a value is marked; the answer at every later row is the sign of the
// last marked one, whatever unmarked values came between.
TEST(Learning, SelectiveCopyNeedsAMemoryAndTheModelHasOne) {
  Rng marks(9);
  std::int8_t held = kFlat;
  test::TestData data =
      test::make_data(Rng(8), 100, 100, 2, [&](std::vector<float>& rows, std::int64_t t) {
        const auto at = static_cast<std::size_t>(2 * t);
        if (t == 0) held = kFlat;
        const bool marked = marks.uniform() < 0.08;
        rows[at] = rows[at] > 0 ? 1.0F : -1.0F;
        rows[at + 1] = marked ? 1.0F : 0.0F;
        if (marked) held = rows[at] > 0 ? kUp : kDown;
        return held;
      });
  const Task task{data.set, data.split, data.normalizer, {.length = 100, .burn_in = 0}};
  const Trained trained = fit(task, 40);
  Mamba2SequenceModel model(*trained.model, 0.1, 1e3);

  Memoryless memoryless;
  TrainConfig config;
  config.epochs = 10;
  config.schedule.lr = 0.05;
  WindowTrainer trainer(memoryless,
                        {.set = task.set,
                         .split = task.split,
                         .normalizer = task.normalizer,
                         .windows = task.windows},
                        config, Rng(1));
  trainer.fit({}, ProgressMode::kOff);
  EXPECT_LT(accuracy(task, memoryless), 0.65);  // one half, and what the mark itself tells
  EXPECT_GT(accuracy(task, model), 0.95);
}

}  // namespace
}  // namespace foxhunt::train
