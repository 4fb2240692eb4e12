#include "foxhunt/train/windows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "foxhunt/base/error.h"
#include "foxhunt/train/sampler.h"
#include "foxhunt/train/test_data.h"

namespace foxhunt::train {
namespace {

using std::chrono::minutes;
using test::counted_sequence;
using test::kOpen;
using testing::ElementsAre;

constexpr float kUnwritten = -77;

/// A set whose column 0 counts rows, and a normaliser that leaves it nearly as it is.
struct Data {
  SequenceSet set;
  Split split;

  /// Everything is train up to `train_rows` of the last sequence.
  explicit Data(std::vector<Sequence> sequences, std::int64_t train_minutes = 1'000'000)
      : set{.schema = test::counted_schema(), .sequences = std::move(sequences)} {
    split.train_end = kOpen + minutes{train_minutes};
    for (const Sequence& sequence : set.sequences) {
      std::vector<Part>& parts = split.parts.emplace_back();
      for (std::size_t t = 0; t < sequence.available_at.size(); ++t) {
        const UnixNanos end =
            sequence.labels.valid[t] != 0 ? sequence.labels.end[t] : sequence.available_at[t];
        parts.push_back(sequence.available_at[t] >= split.train_end ? Part::kTest
                        : end >= split.train_end                    ? Part::kPurged
                                                                    : Part::kTrain);
      }
    }
  }

  features::Normalizer normalizer() const {
    features::NormalizerFit fit(set.schema, {kOpen, kOpen});
    for (const float v : {-1.0F, 1.0F}) fit.add(kOpen, std::vector<float>{v, v});
    return fit.finish(1000);
  }
  std::vector<Window> windows(const WindowConfig& config) const {
    return training_windows(config, set.sequences, split);
  }
};

/// How often each (sequence, row) carries a loss in `windows`.
std::map<std::pair<std::int64_t, std::int64_t>, int> losses(const Data& data,
                                                            const std::vector<Window>& windows,
                                                            Part part = Part::kTrain) {
  std::map<std::pair<std::int64_t, std::int64_t>, int> counts;
  const features::Normalizer normalizer = data.normalizer();
  const BatchFiller filler(data.set, data.split, normalizer, part);
  Batch batch;
  for (const Window& window : windows) {
    filler.fill(std::span(&window, 1), 0, batch);
    for (std::int64_t i = 0; i < batch.T; ++i) {
      if (batch.mask[static_cast<std::size_t>(i)] != 0)
        ++counts[{window.sequence, window.first + i}];
    }
  }
  return counts;
}

TEST(Windows, EveryLabelledTrainingRowHasOneLossWhateverTheLength) {
  for (const std::int64_t rows : {1, 2, 7, 8, 9, 15, 16, 17, 50}) {
    for (const WindowConfig& config :
         {WindowConfig{.length = 8, .burn_in = 0}, WindowConfig{.length = 8, .burn_in = 3},
          WindowConfig{.length = 1, .burn_in = 0}}) {
      const Data data(
          {counted_sequence(kOpen, rows, 1), counted_sequence(kOpen + minutes{100}, 20, 1)}, 110);
      const auto counts = losses(data, data.windows(config));
      std::size_t expected = 0;
      for (std::size_t s = 0; s < 2; ++s) {
        for (std::size_t t = 0; t < data.split.parts[s].size(); ++t) {
          const bool counts_for =
              data.split.parts[s][t] == Part::kTrain && data.set.sequences[s].labels.valid[t] != 0;
          const auto found =
              counts.find({static_cast<std::int64_t>(s), static_cast<std::int64_t>(t)});
          EXPECT_EQ(found == counts.end() ? 0 : found->second, counts_for ? 1 : 0)
              << rows << " " << s << " " << t;
          expected += counts_for ? 1 : 0;
        }
      }
      EXPECT_EQ(counts.size(), expected);
    }
  }
}

TEST(Windows, AreCutAsWrittenDown) {
  const Data data({counted_sequence(kOpen, 21, 1)});  // the last row has no label: 20 count
  EXPECT_THAT(data.windows({.length = 8, .burn_in = 2}),
              ElementsAre(Window{0, 0, 8, 0}, Window{0, 6, 8, 2}, Window{0, 12, 8, 2}));
  EXPECT_THAT(data.windows({.length = 8, .burn_in = 0}),
              ElementsAre(Window{0, 0, 8, 0}, Window{0, 8, 8, 0}, Window{0, 16, 4, 0}));
  EXPECT_THAT(
      data.windows({.length = 8, .burn_in = 0, .stride = 4}),
      ElementsAre(Window{0, 0, 8, 0}, Window{0, 4, 8, 0}, Window{0, 8, 8, 0}, Window{0, 12, 8, 0}));
  EXPECT_THAT(data.windows({.length = 100, .burn_in = 2}), ElementsAre(Window{0, 0, 20, 0}));
}

TEST(Windows, HoldNoRowBehindTheLastTrainingRow) {
  Rng rng(1);
  for (int trial = 0; trial < 100; ++trial) {
    const auto draw = [&rng](std::uint64_t n) { return static_cast<std::int64_t>(rng.below(n)); };
    const Data data({counted_sequence(kOpen, 1 + draw(60), 1 + draw(8)),
                     counted_sequence(kOpen + minutes{100}, 1 + draw(60), 1 + draw(8))},
                    draw(170));
    const std::int64_t length = 1 + draw(20);
    const WindowConfig config{.length = length,
                              .burn_in = draw(static_cast<std::uint64_t>(length))};
    for (const Window& window : data.windows(config)) {
      const Sequence& sequence = data.set.sequences[static_cast<std::size_t>(window.sequence)];
      ASSERT_LE(window.length, config.length);
      ASSERT_LE(window.first + window.length, sequence.length());
      const auto last = static_cast<std::size_t>(window.first + window.length - 1);
      ASSERT_LT(sequence.available_at[last], data.split.train_end);
    }
    for (const auto& [place, count] : losses(data, data.windows(config))) {
      const auto s = static_cast<std::size_t>(place.first);
      ASSERT_LT(data.set.sequences[s].labels.end[static_cast<std::size_t>(place.second)],
                data.split.train_end);
    }
  }
}

TEST(Windows, SequencesWithoutALabelGiveNone) {
  const Data data({counted_sequence(kOpen, 5, 10), counted_sequence(kOpen + minutes{100}, 1, 1)});
  EXPECT_THAT(data.windows({.length = 8, .burn_in = 2}), testing::IsEmpty());
  Batch batch;
  const features::Normalizer normalizer = data.normalizer();
  BatchFiller(data.set, data.split, normalizer, Part::kTrain).fill({}, 8, batch);
  EXPECT_EQ(batch.B, 0);
  EXPECT_TRUE(batch.features.empty());
}

TEST(Windows, WholeSequencesCoverAPartWithItsPast) {
  // Train up to minute 10: rows 0..9 are its past, rows 10.. are test.
  const Data data({counted_sequence(kOpen, 30, 2), counted_sequence(kOpen + minutes{5}, 4, 1)}, 10);
  const std::vector<Window> windows = whole_sequences(data.set.sequences, data.split, Part::kTest);
  EXPECT_THAT(windows, ElementsAre(Window{0, 0, 28, 0}));
  const auto counts = losses(data, windows, Part::kTest);
  EXPECT_EQ(counts.size(), 18U);
  EXPECT_EQ(counts.begin()->first.second, 10);
  EXPECT_THAT(whole_sequences(data.set.sequences, data.split, Part::kTrain),
              ElementsAre(Window{0, 0, 8, 0}, Window{1, 0, 3, 0}));
}

TEST(Windows, RefuseSettingsThatWouldLeaveRowsOut) {
  const Data data({counted_sequence(kOpen, 30, 1)});
  EXPECT_THROW(data.windows({.length = 8, .burn_in = 8}), ConfigError);
  EXPECT_THROW(data.windows({.length = 8, .burn_in = 2, .stride = 7}), ConfigError);
  EXPECT_THROW(data.windows({.length = 0}), ConfigError);
  EXPECT_NO_THROW(data.windows({.length = 8, .burn_in = 2, .stride = 6}));
}

TEST(Batch, HoldsRowsLabelsAndPaddingWhereItSays) {
  const Data data({counted_sequence(kOpen, 6, 2, 10)});
  const features::Normalizer normalizer = data.normalizer();
  const BatchFiller filler(data.set, data.split, normalizer, Part::kTrain);
  Batch batch;
  batch.features.assign(100, kUnwritten);  // memory that was used before
  batch.mask.assign(100, kUnwritten);
  const std::vector<Window> windows{{0, 0, 3, 0}, {0, 2, 4, 1}};
  filler.fill(windows, 5, batch);
  EXPECT_EQ(batch.B, 2);
  EXPECT_EQ(batch.T, 5);
  EXPECT_EQ(batch.F, 2);
  EXPECT_THAT(batch.lengths, ElementsAre(3, 4));
  const float s = 1 / normalizer.columns()[0].scale;
  EXPECT_THAT(batch.features,
              testing::Pointwise(testing::FloatNear(1e-5F),
                                 {10 * s, s, 11 * s, s, 12 * s, s, 0.0F,   0.0F, 0.0F, 0.0F,  //
                                  12 * s, s, 13 * s, s, 14 * s, s, 15 * s, s,    0.0F, 0.0F}));
  // Row t has class t % 3 and value 10.5 + t; rows 4 and 5 have no label; the second window's first
  // row is burn-in.
  EXPECT_THAT(batch.mask, ElementsAre(1, 1, 1, 0, 0, 0, 1, 0, 0, 0));
  EXPECT_THAT(batch.classes, ElementsAre(0, 1, 2, -1, -1, -1, 0, -1, -1, -1));
  EXPECT_THAT(batch.values, ElementsAre(10.5, 11.5, 12.5, 0, 0, 0, 13.5, 0, 0, 0));
  filler.fill(windows, 0, batch);
  EXPECT_EQ(batch.T, 4);
}

TEST(Batch, RefusesWindowsThatDoNotFit) {
  const Data data({counted_sequence(kOpen, 6, 2)});
  const features::Normalizer normalizer = data.normalizer();
  const BatchFiller filler(data.set, data.split, normalizer, Part::kTrain);
  Batch batch;
  for (const Window& bad : {Window{0, 4, 3, 0}, Window{1, 0, 1, 0}, Window{-1, 0, 1, 0},
                            Window{0, -1, 2, 0}, Window{0, 0, 0, 0}}) {
    EXPECT_THROW(filler.fill(std::span(&bad, 1), 0, batch), ShapeError);
  }
  const Window long_window{0, 0, 5, 0};
  EXPECT_THROW(filler.fill(std::span(&long_window, 1), 4, batch), ShapeError);
  SequenceSet other = data.set;
  other.schema.columns[0].name = "other";
  EXPECT_THROW(BatchFiller(other, data.split, normalizer, Part::kTrain), ConfigError);
}

TEST(Batch, AnyNumberOfWindowsIsServedWhole) {
  // 0, 1, batch - 1, batch and batch + 1 windows of one row each.
  const std::int64_t batch_size = 4;
  for (const std::int64_t n : {0, 1, 3, 4, 5}) {
    const Data data({counted_sequence(kOpen, n + 1, 1)});
    const std::vector<Window> windows = data.windows({.length = 1, .burn_in = 0});
    ASSERT_EQ(static_cast<std::int64_t>(windows.size()), n);
    WindowSampler sampler(n, Rng(1));
    std::int64_t rows = 0;
    std::int64_t batches = 0;
    for (auto chosen = sampler.next(batch_size); !chosen.empty();
         chosen = sampler.next(batch_size)) {
      rows += static_cast<std::int64_t>(chosen.size());
      ++batches;
    }
    EXPECT_EQ(rows, n);
    EXPECT_EQ(batches, (n + batch_size - 1) / batch_size);
  }
}

}  // namespace
}  // namespace foxhunt::train
