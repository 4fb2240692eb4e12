#pragma once
// The shipped sample, and sources with a planted fault.

#include <functional>
#include <utility>
#include <vector>

#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"

namespace foxhunt::proofs::test {

/// The experiment of the demo, as far as proofs look at it.
inline train::ExperimentConfig sample_config() {
  train::ExperimentConfig config;
  config.data.files = {"data/es-sample/es-ohlcv-1m.dbn.zst"};
  config.split.train_end = "2013-12-01";
  config.split.valid_end = "2013-12-10";
  return config;
}

inline const std::vector<market::Bar>& sample_bars() {
  static const std::vector<market::Bar> bars = usable_bars(sample_config()).bars;
  return bars;
}

/// The first 3000 bars: two whole sessions and their ends.
inline Ground small_ground() {
  return {.bars = std::span(sample_bars()).first(3000), .points = 12, .seed = 7};
}

inline const TrainingRows& sample_source() {
  static const TrainingRows source("ES", {}, {});
  return source;
}

inline const train::SequenceSet& sample_set() {
  static const train::SequenceSet set = sample_source().sequences(sample_bars());
  return set;
}

/// The training rows with something done to what they say of themselves or of the bars.
class Tampered final : public Source {
 public:
  using Change = std::function<void(std::vector<Entries>&, std::span<const market::Bar>)>;
  Tampered(Change change, std::function<void(std::vector<Series>&)> declare = {})
      : change_(std::move(change)), series_(sample_source().series()) {
    if (declare) declare(series_);
  }
  const std::vector<Series>& series() const override { return series_; }
  std::vector<Entries> run(std::span<const market::Bar> bars) const override {
    std::vector<Entries> out = sample_source().run(bars);
    if (change_) change_(out, bars);
    return out;
  }

 private:
  Change change_;
  std::vector<Series> series_;
};

}  // namespace foxhunt::proofs::test
