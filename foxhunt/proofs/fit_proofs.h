#pragma once
// Proofs about what training does with rows: where the normaliser is fitted, what the split leaves
// to train on, what a training window holds. Over the configured split, the folds of a walk-forward
// and splits at random.

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/training_rows.h"
#include "foxhunt/proofs/verdict.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/windows.h"

namespace foxhunt::proofs {

struct NamedSplit {
  std::string name{};  ///< "configured", "fold 3", "random 2"
  train::SplitConfig config{};
};

/// What is under proof, and in tests what must be caught: how rows are split, how scales are
/// fitted, how windows are cut.
struct Machinery {
  std::function<train::Split(train::SplitConfig, std::span<const train::Sequence>)> make_split =
      train::make_split;
  std::function<features::Normalizer(const train::SequenceSet&, const train::Split&, double)>
      fit_normalizer = train::fit_normalizer;
  std::function<std::vector<train::Window>(train::WindowConfig, std::span<const train::Sequence>,
                                           const train::Split&)>
      training_windows = train::training_windows;
};

/// Every split that the trainer would make of these rows: the configured one, each fold that the
/// walk-forward plans (of days that fit, where the data are too short for the configured lengths),
/// and `random` cuts anywhere.
/// Only those that leave labels in every part. Errors  ConfigError: the configured one does not.
std::vector<NamedSplit> splits_of(const train::ExperimentConfig& config,
                                  const train::SequenceSet& set, std::int64_t random, Rng rng);

/// nullopt where a part would be without a label.
std::optional<train::Split> possible_split(const train::SplitConfig& config,
                                           const train::SequenceSet& set,
                                           const Machinery& machinery = {});

/// Rows outside of train changed at will, then bars from the first cut on changed and everything
/// made anew: the fitted normaliser is the same to the last byte.
Verdict prove_normalizer_fit(const TrainingRows& source, const train::SequenceSet& set,
                             std::span<const NamedSplit> splits, const Ground& ground, double clip,
                             const Machinery& machinery = {});

/// The half of it that needs rows alone: what lies outside of train was changed at will.
Verdict prove_normalizer_fit(const train::SequenceSet& set, std::span<const NamedSplit> splits,
                             std::uint64_t seed, double clip, const Machinery& machinery = {});

/// Every pair held against each other, with the labels as they are and with labels of random length
/// in their place: no label interval of a part touches one of a later part, nor reaches into the
/// embargo; every purged row had to go; no row belongs to a part that its time is not in.
Verdict prove_purge(const train::SequenceSet& set, std::span<const NamedSplit> splits,
                    const Ground& ground, const Machinery& machinery = {});

/// How training windows are to be.
struct WindowRules {
  train::WindowConfig windows{};
  double clip = 5;
  /// Where a row is a bar: the longest hole between two of a window, in time.
  std::optional<std::chrono::nanoseconds> longest_hole{};
};

/// A training window lies within one sequence, steps over no longer hole, and none of its rows
/// reaches the first cut. A loss falls on exactly the labelled rows of train, none of whose labels
/// reaches the cut or its embargo.
Verdict prove_windows(const train::SequenceSet& set, std::span<const NamedSplit> splits,
                      const WindowRules& rules, const Machinery& machinery = {});

}  // namespace foxhunt::proofs
