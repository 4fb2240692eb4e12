// The training loop put down after any step and taken up by another trainer: the same bits.
#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <tuple>

#include "foxhunt/base/error.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/log.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/gru_baseline.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/training_test_data.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {
namespace {

using test::TestData;

/// Labels that follow no rule: validation gets worse, early stopping has something to count.
TestData noise_data() {
  Rng noise(3);
  return test::make_data(Rng(2), 10, 60, 2, [&noise](const std::vector<float>&, std::int64_t) {
    return static_cast<std::int8_t>(noise.below(3));
  });
}

TrainConfig quick() {
  TrainConfig config;
  config.epochs = 5;
  config.batch_size = 4;
  config.patience = 2;
  config.lanes = 3;
  config.schedule.lr = 0.05;
  return config;
}

/// Everything an epoch reports but its time.
using EpochLine = std::tuple<std::int64_t, std::int64_t, double, double, double, double, double,
                             std::int64_t, bool>;
EpochLine line_of(const EpochReport& r) {
  return {r.epoch,          r.step,          r.train_loss,    r.valid_loss, r.lr,
          r.grad_norm_mean, r.grad_norm_max, r.skipped_steps, r.improved};
}

/// A model with its trainer; `poison` makes a step's gradients NaN.
struct Session {
  Session(const TestData& data, const TrainConfig& config)
      : model(model_config(), head(), at::kCPU) {
    model.initialise(1);
    sequence.emplace(model, config.a_min, config.a_max);
    trainer.emplace(*sequence, data.view(), config, Rng(1));
    hooks.epoch_done = [this](const EpochReport& report) { lines.push_back(line_of(report)); };
  }
  static model::Mamba2Config model_config() {
    model::Mamba2Config config;
    config.d_model = 8;
    config.n_layer = 1;
    config.d_state = 4;
    config.headdim = 4;
    config.chunk_size = 16;
    return config;
  }
  static model::HeadConfig head() { return {.n_features = 2, .n_classes = 3}; }

  Checkpoint checkpoint() {
    const auto copy = [](const NamedParameters& from) {
      NamedParameters to;
      for (const auto& [name, tensor] : from) to.emplace_back(name, tensor.detach().clone());
      return to;
    };
    return {.state = TrainingState::from_json(trainer->state().to_json()),
            .weights = copy(sequence->parameters()),
            .best = copy(trainer->best_weights()),
            .moments = copy(trainer->optimizer().state())};
  }
  void restore(const Checkpoint& c) { trainer->restore(c.state, c.weights, c.best, c.moments); }
  FitReport fit(std::int64_t pause = 0) { return trainer->fit(hooks, ProgressMode::kOff, pause); }
  std::string hash() const { return nn::weights_hash(model); }

  nn::Mamba2SSM model;
  std::optional<Mamba2SequenceModel> sequence;
  std::optional<WindowTrainer> trainer;
  WindowTrainer::Hooks hooks;
  std::vector<EpochLine> lines;
};

void expect_same(const FitReport& a, const FitReport& b) {
  EXPECT_EQ(
      std::tie(a.epochs, a.steps, a.skipped_steps, a.best_epoch, a.best_valid_loss, a.stopped),
      std::tie(b.epochs, b.steps, b.skipped_steps, b.best_epoch, b.best_valid_loss, b.stopped));
}

TEST(Resume, AfterAnyStepAndAnyEpochGivesTheSameBits) {
  const TestData data = noise_data();
  TrainConfig config = quick();
  config.threads = 1;
  Session whole(data, config);
  std::vector<Checkpoint> checkpoints;
  checkpoints.push_back(whole.checkpoint());  // before the first step
  whole.hooks.step_done = [&] { checkpoints.push_back(whole.checkpoint()); };
  whole.hooks.epoch_done = [&](const EpochReport& report) {
    whole.lines.push_back(line_of(report));
    checkpoints.push_back(whole.checkpoint());
  };
  const FitReport report = whole.fit();
  ASSERT_EQ(report.stopped, "early stopping");
  ASSERT_GT(report.best_epoch, 0);
  ASSERT_GT(checkpoints.size(), 10U);
  config.threads = 3;  // lanes decide, not threads
  for (const Checkpoint& checkpoint : checkpoints) {
    SCOPED_TRACE(checkpoint.state.to_json());
    Session rest(data, config);
    rest.restore(checkpoint);
    expect_same(rest.fit(), report);
    EXPECT_EQ(rest.hash(), whole.hash());
    const std::size_t before =
        static_cast<std::size_t>(checkpoint.state.epochs) - (checkpoint.state.epoch_closed ? 0 : 1);
    const std::vector<EpochLine> expected(whole.lines.begin() + static_cast<std::ptrdiff_t>(before),
                                          whole.lines.end());
    EXPECT_EQ(rest.lines, expected);
  }
}

TEST(Resume, SkippedStepsInARowAreStillCounted) {
  const TestData data = noise_data();
  TrainConfig config = quick();
  config.max_bad_steps = 6;
  log::set_console_level(log::Level::kOff);
  const auto poison = [](Session& session) {
    session.trainer->set_scalar_reader([](const at::Tensor& tensor) {
      return std::vector<double>(static_cast<std::size_t>(tensor.numel()),
                                 std::numeric_limits<double>::quiet_NaN());
    });
  };
  Session first(data, config);
  poison(first);
  first.hooks.step_done = [&first] { set_interrupted(first.trainer->steps() == 4); };
  EXPECT_EQ(first.fit().stopped, "interrupted");
  set_interrupted(false);
  Session rest(data, config);
  poison(rest);
  rest.restore(first.checkpoint());
  EXPECT_THROW(rest.fit(), NotConvergedError);
  EXPECT_EQ(rest.trainer->steps(), 6);
  log::set_console_level(log::Level::kInfo);
}

TEST(Resume, APauseEndsBehindItsEpochAndLeavesOnce) {
  const TestData data = noise_data();
  Session whole(data, quick());
  const FitReport report = whole.fit();
  Session first(data, quick());
  int left = 0;
  std::optional<Checkpoint> kept;
  first.hooks.leaving = [&] {
    ++left;
    kept = first.checkpoint();
  };
  const FitReport paused = first.fit(2);
  EXPECT_EQ(paused.stopped, "paused");
  EXPECT_EQ(paused.epochs, 2);
  EXPECT_EQ(left, 1);
  Session rest(data, quick());
  rest.restore(*kept);
  EXPECT_EQ(rest.fit(2).stopped, "paused") << "paused there already";
  Session end(data, quick());
  end.restore(*kept);
  end.hooks.leaving = [] { ADD_FAILURE() << "nothing is left to do later"; };
  expect_same(end.fit(report.epochs), report);  // the end comes before the pause
  EXPECT_EQ(end.hash(), whole.hash());
}

TEST(Resume, AnEndThatWasReachedIsNotTrainedOn) {
  const TestData data = noise_data();
  Session whole(data, quick());
  std::optional<Checkpoint> last;
  whole.hooks.epoch_done = [&](const EpochReport&) { last = whole.checkpoint(); };
  const FitReport report = whole.fit();
  Session rest(data, quick());
  rest.hooks.step_done = [] { ADD_FAILURE() << "a step behind the end"; };
  rest.restore(*last);
  expect_same(rest.fit(), report);
  EXPECT_EQ(rest.hash(), whole.hash());
}

TEST(Resume, RefusesWhatIsNotThisTrainings) {
  const TestData data = noise_data();
  Session whole(data, quick());
  whole.hooks.step_done = [] { set_interrupted(true); };
  whole.fit();
  set_interrupted(false);
  const Checkpoint good = whole.checkpoint();
  const auto refused = [&](const std::function<void(Checkpoint&)>& change, const char* text) {
    Checkpoint bad = good;
    change(bad);
    Session session(data, quick());
    try {
      session.restore(bad);
      ADD_FAILURE() << text << " was not refused";
    } catch (const FormatError& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr(text));
    }
  };
  refused([](Checkpoint& c) { c.state.windows = 1'000'000; }, "is no place in an epoch");
  refused([](Checkpoint& c) { c.weights.pop_back(); }, "has no weight");
  refused([](Checkpoint& c) { c.weights[0].second = at::zeros({1}); }, "another shape");
  refused([](Checkpoint& c) { c.moments.pop_back(); }, "[optimizer]");
}

// A generator would be one more thing to save. Nothing asks LibTorch's.
TEST(Resume, NothingDrawsFromLibTorchsGenerator) {
  const TestData data = noise_data();
  const at::Generator& generator = at::detail::getDefaultCPUGenerator();
  const at::Tensor before = generator.get_state().clone();
  Session session(data, quick());
  session.fit();
  const auto gru = make_gru(Session::head(), 100, at::kCPU, 1);
  WindowTrainer baseline(*gru, data.view(), quick(), Rng(1));
  baseline.fit({}, ProgressMode::kOff);
  EXPECT_TRUE(at::equal(before, generator.get_state()));
  at::rand({1});
  EXPECT_FALSE(at::equal(before, generator.get_state())) << "the check would see a draw";
}

}  // namespace
}  // namespace foxhunt::train
