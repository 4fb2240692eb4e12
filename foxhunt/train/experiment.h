#pragma once
// One experiment: everything a configuration file can say. Torch-free.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/bundle/label_config.h"
#include "foxhunt/features/book/book_feature_config.h"
#include "foxhunt/features/feature_config.h"
#include "foxhunt/market/reader.h"
#include "foxhunt/model/head_config.h"
#include "foxhunt/train/hyperparameters.h"
#include "foxhunt/train/split_config.h"
#include "foxhunt/train/tune_config.h"
#include "foxhunt/train/walk_forward_config.h"
#include "foxhunt/train/window_config.h"

namespace foxhunt::train {

/// What rows are made of.
enum class RecordChoice : std::uint8_t { kBars, kOrders };

struct DataConfig {
  std::vector<std::string> files;
  RecordChoice records = RecordChoice::kBars;
  std::string product = "ES";
  std::string symbol;
  std::string lock;
  bool accept_errors = false;
  market::CsvFormat csv;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("files", c.files,
        "DBN or CSV files in the order of time; relative paths start at the working directory");
    key.choice("records", c.records,
               {{"bars", RecordChoice::kBars}, {"orders", RecordChoice::kOrders}},
               "what rows are made of: bars, or the events of a market-by-order feed");
    key("product", c.product, "ES, NQ, ZN, 6E …: sessions, tick and multiplier");
    key("symbol", c.symbol,
        "one contract of the files, as ESZ3; empty: every contract of the product");
    key("lock", c.lock,
        "a lock that foxhunt data check wrote: training begins only with the files that it lists, "
        "byte by byte; empty: none");
    key("accept_errors", c.accept_errors, "train also on files of which the lock says error");
    key.section("csv", c.csv, "how CSV files are to be read");
  }
};

struct EvaluateConfig {
  std::int64_t bootstrap_samples = 1000;
  std::int64_t bootstrap_block = 0;
  double level = 0.95;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("bootstrap_samples", c.bootstrap_samples, 10, 100'000, "resamples behind every interval");
    key("bootstrap_block", c.bootstrap_block, 0, 1'000'000,
        "rows of a block, longer than labels overlap; 0: by the number of rows, at least twice the "
        "horizon");
    key("level", c.level, 0.5, 0.999, "of the intervals");
  }
};

struct ExperimentConfig {
  std::string name = "mamba2";
  DataConfig data;
  features::FeatureConfig features;
  features::BookFeatureConfig book;
  bundle::LabelConfig label;
  SplitConfig split;
  WindowConfig windows;
  Mamba2Hyperparameters hyper;
  EvaluateConfig evaluate;
  WalkForwardConfig walkforward;
  TuneConfig tune;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("name", c.name, "of the experiment; part of the default run folder");
    key.section("data", c.data, "what is read");
    key.section("features", c.features, "what the model sees of a bar");
    key.section("book", c.book, "what the model sees of an order book, with data.records = orders");
    key.section("label", c.label, "what it is to learn");
    key.section("split", c.split, "which rows train, validate and test");
    key.section("windows", c.windows, "how rows become training windows");
    Mamba2Hyperparameters::describe(c.hyper, key);
    key.section("evaluate", c.evaluate, "how it is scored");
    key.section("walkforward", c.walkforward, "for foxhunt walkforward: the folds");
    key.section("tune", c.tune, "for foxhunt tune: what is tried, and how");
  }

  /// [book] where rows are made of order events, else nothing.
  std::optional<features::BookFeatureConfig> book_settings() const;
  /// The experiment alone: what walk-forward and tuning would do with it left at its defaults, as
  /// each of their runs is configured.
  ExperimentConfig single_run() const;
  /// Everything that is wrong, one a line, every section at once. Empty: all well.
  std::vector<std::string> errors() const;
};

/// Merges the files in order, then the overrides. Errors  ConfigError with everything that is
/// wrong.
void load_experiment(ExperimentConfig& config, const std::vector<std::string>& files,
                     const std::vector<std::string>& overrides);

}  // namespace foxhunt::train
