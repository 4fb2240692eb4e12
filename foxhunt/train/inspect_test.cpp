// Importance and pruning on a model that was trained: what the labels say of what the estimate
// says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/nn/prune_state.h"
#include "foxhunt/nn/state_usage_recorder.h"
#include "foxhunt/train/mamba2_sequence_model.h"
#include "foxhunt/train/part_loss.h"
#include "foxhunt/train/training_test_data.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kState = 8;

/// A model that has learned to remember the sign of a feature four rows ago, which no convolution
/// of width 2 reaches.
struct Trained {
  test::TestData data;
  std::unique_ptr<nn::Mamba2SSM> model;
  nn::StateUsage usage;

  double valid_loss(nn::Mamba2SSM& other) const {
    Mamba2SequenceModel sequence(other, 1e-4, 1e3);
    return part_loss(sequence, data.view(), Part::kValid, {});
  }
};

const Trained& trained() {
  static const Trained result = [] {
    Trained t{test::make_data(Rng(3), 60, 64, 2,
                              [](std::vector<float>& rows, std::int64_t t_row) {
                                if (t_row < 4) return std::int8_t{1};
                                const float past = rows[rows.size() - 2 - 8];
                                return past < 0 ? std::int8_t{0} : std::int8_t{2};
                              }),
              nullptr,
              {}};
    model::Mamba2Config config;
    config.d_model = 16;
    config.n_layer = 1;
    config.headdim = 8;
    config.d_state = kState;
    config.d_conv = 2;
    config.dt_limit_min = 1e-6;
    config.dt_limit_max = 1.0;
    t.model = std::make_unique<nn::Mamba2SSM>(
        config, model::HeadConfig{.n_features = 2, .n_classes = 3}, at::kCPU);
    t.model->initialise(1);
    TrainConfig train;
    train.epochs = 40;
    train.batch_size = 8;
    train.schedule.lr = 1e-2;
    train.patience = 0;
    Mamba2SequenceModel sequence(*t.model, train.a_min, train.a_max);
    WindowTrainer(sequence, t.data.view(), train, Rng(1)).fit({}, ProgressMode::kOff);
    nn::StateUsageRecorder recorder(*t.model, Rng(1));
    const BatchFiller filler(t.data.set, t.data.split, t.data.normalizer, Part::kValid);
    Batch batch;
    for (const Window& window : whole_sequences(t.data.set.sequences, t.data.split, Part::kValid)) {
      filler.fill({&window, 1}, 0, batch);
      recorder.add(upload(batch, 0, 1, {}, at::kCPU).x);
    }
    t.usage = recorder.result();
    return t;
  }();
  return result;
}

/// Everything but column n.
nn::ColumnChoice without(std::int64_t n) {
  std::vector<std::int64_t> kept;
  for (std::int64_t i = 0; i < kState; ++i)
    if (i != n) kept.push_back(i);
  return {{kept}};
}

TEST(TrainedState, TheRankingIsThatOfTheLossWithoutEachColumn) {
  const Trained& t = trained();
  const double loss = t.valid_loss(*t.model);
  ASSERT_LT(loss, 0.8) << "the prior's is about 0.9: the task was learned";
  const auto& columns = t.usage.layers[0].columns[0];
  // Pairs in order, of all pairs (Kendall).
  std::vector<double> rises;
  for (std::int64_t n = 0; n < kState; ++n)
    rises.push_back(t.valid_loss(*nn::prune_state(*t.model, without(n))) - loss);
  double in_order = 0;
  double pairs = 0;
  for (std::size_t a = 0; a < rises.size(); ++a) {
    for (std::size_t b = a + 1; b < rises.size(); ++b) {
      pairs += 1;
      in_order += (rises[a] < rises[b]) == (columns[a].importance < columns[b].importance) ? 1 : 0;
    }
  }
  EXPECT_GT(in_order / pairs, 0.8);
  const auto most = std::max_element(rises.begin(), rises.end()) - rises.begin();
  EXPECT_EQ(nn::most_important(t.usage, 1)[0][0][0], most);
}

TEST(TrainedState, KeepingTheMostImportantHalfBeatsKeepingTheOther) {
  const Trained& t = trained();
  const double loss = t.valid_loss(*t.model);
  const nn::ColumnChoice best = nn::most_important(t.usage, kState / 2);
  std::vector<std::int64_t> others;
  for (std::int64_t n = 0; n < kState; ++n)
    if (std::count(best[0][0].begin(), best[0][0].end(), n) == 0) others.push_back(n);
  const double good = t.valid_loss(*nn::prune_state(*t.model, best)) - loss;
  const double bad = t.valid_loss(*nn::prune_state(*t.model, {{others}})) - loss;
  EXPECT_LT(good, 0.5 * bad);
}

TEST(TrainedState, RemembersAtLeastAsFarBackAsTheTaskAsks) {
  double longest = 0;
  for (const nn::HeadUsage& head : trained().usage.layers[0].heads)
    longest = std::max(longest, head.memory);
  EXPECT_GT(longest, 2.0) << "four rows back is two time constants of this";
}

}  // namespace
}  // namespace foxhunt::train
