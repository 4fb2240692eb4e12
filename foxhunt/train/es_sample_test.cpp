// The real bars that come with the project, through the whole room.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "foxhunt/market/reader.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/windows.h"

namespace foxhunt::train {
namespace {

constexpr std::int64_t kBars = 19'083;

const SequenceSet& sample() {
  static const SequenceSet set = [] {
    SequenceBuilder builder({}, {}, {});
    const auto reader = market::open_reader("data/es-sample/es-ohlcv-1m.dbn.zst");
    builder.add(*reader);
    return builder.finish();
  }();
  return set;
}

TEST(EsSample, EveryBarIsTakenAndSequencesEndWithTheirSession) {
  const SequenceCounters& c = sample().counters;
  EXPECT_EQ(c.selection.records, kBars);
  EXPECT_EQ(c.bars.ready + c.bars.warming_up, kBars) << c.summary();
  EXPECT_EQ(c.rows, c.labelled + c.label_beyond_sequence);
  for (const Sequence& sequence : sample().sequences) {
    // The longest part of a session, from 17:00 to the halt at 15:15 Chicago (2020 too).
    EXPECT_LE(sequence.available_at.back() - sequence.available_at.front(),
              std::chrono::minutes{1335});
    EXPECT_TRUE(sequence.symbol == "ESZ13" || sequence.symbol == "ESH14" ||
                sequence.symbol == "ESH20");
  }
}

TEST(EsSample, EveryClassIsCommonWithTheDefaultDeadZone) {
  std::array<double, kClasses> counts{};
  for (const Sequence& sequence : sample().sequences) {
    for (std::size_t t = 0; t < sequence.labels.valid.size(); ++t) {
      if (sequence.labels.valid[t] == 0) continue;
      counts[static_cast<std::size_t>(static_cast<Class>(sequence.labels.classes[t]))] += 1;
    }
  }
  for (const double count : counts) {
    EXPECT_GT(count, 0.2 * static_cast<double>(sample().counters.labelled));
  }
}

TEST(EsSample, FeaturesOfTrainingDescribeTheYearsAfterItToo) {
  // Trained on 2013, the test reaches into 2020: volume and volatility are other ones, the features
  // must still fit.
  const SequenceSet& set = sample();
  const Split split = make_split({}, set.sequences);
  const features::Normalizer normalizer = fit_normalizer(set, split, 5.0);
  for (const features::ColumnScale& column : normalizer.columns()) {
    EXPECT_EQ(column.rule, features::ScaleRule::kIqr) << column.name;
  }
  const features::FitRange range = normalizer.fitted_on();
  EXPECT_LT(range.last, split.interval(Part::kValid).first_available);
  std::vector<float> z;
  double cells = 0;
  double clipped = 0;
  for (const Sequence& sequence : set.sequences) {
    z.resize(sequence.rows.size());
    EXPECT_EQ(normalizer.apply(sequence.rows, z), 0);
    cells += static_cast<double>(z.size());
    clipped +=
        static_cast<double>(std::ranges::count_if(z, [](float v) { return std::abs(v) >= 5; }));
  }
  EXPECT_LT(clipped / cells, 0.005);
}

TEST(EsSample, WindowsGiveEveryTrainingLabelALoss) {
  const SequenceSet& set = sample();
  const Split split = make_split({}, set.sequences);
  const features::Normalizer normalizer = fit_normalizer(set, split, 5.0);
  const std::vector<Window> windows = training_windows({}, set.sequences, split);
  Batch batch;
  BatchFiller(set, split, normalizer, Part::kTrain).fill(windows, 256, batch);
  EXPECT_EQ(std::ranges::count(batch.mask, 1.0F), split.interval(Part::kTrain).labelled);
}

}  // namespace
}  // namespace foxhunt::train
