// The splits that proofs run over.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/experiments/fold_plan.h"
#include "foxhunt/proofs/fit_proofs.h"

namespace foxhunt::proofs {
namespace {

using train::SequenceSet;
using train::SplitConfig;

std::vector<experiments::Fold> planned(const train::WalkForwardConfig& config,
                                       const SequenceSet& set) {
  try {
    return experiments::plan_folds(config, experiments::day_starts(set.sequences)).folds;
  } catch (const ConfigError&) {  // the data are too short for one
    return {};
  }
}

std::vector<experiments::Fold> folds_of(const train::ExperimentConfig& config,
                                        const SequenceSet& set) {
  std::vector<experiments::Fold> folds = planned(config.walkforward, set);
  if (!folds.empty()) return folds;
  train::WalkForwardConfig few{.train = 5, .valid = 2, .test = 2};
  for (const auto kind : {train::WalkForwardKind::kRolling, train::WalkForwardKind::kAnchored}) {
    few.kind = kind;
    std::ranges::copy(planned(few, set), std::back_inserter(folds));
  }
  return folds;
}

SplitConfig random_split(const std::vector<UnixNanos>& times, Rng& rng) {
  std::array<std::uint64_t, 4> places{};
  for (std::uint64_t& place : places) place = rng.below(times.size());
  std::ranges::sort(places);
  SplitConfig split;
  split.embargo_minutes = static_cast<std::int64_t>(rng.below(4) * 30);
  const auto time = [&](std::size_t i) { return to_string(times[places[i]]); };
  if (rng.below(2) == 0) split.train_begin = time(0);
  split.train_end = time(1);
  split.valid_end = time(2);
  if (rng.below(2) == 0) split.test_end = time(3);
  return split;
}

}  // namespace

std::optional<train::Split> possible_split(const SplitConfig& config, const SequenceSet& set,
                                           const Machinery& machinery) {
  try {
    return machinery.make_split(config, set.sequences);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

std::vector<NamedSplit> splits_of(const train::ExperimentConfig& config, const SequenceSet& set,
                                  std::int64_t random, Rng rng) {
  train::make_split(config.split, set.sequences);
  std::vector<NamedSplit> splits{{.name = "configured", .config = config.split}};
  const auto add = [&](std::string name, const SplitConfig& split) {
    if (!possible_split(split, set)) return false;
    splits.push_back({.name = std::move(name), .config = split});
    return true;
  };
  std::int64_t number = 0;
  for (const experiments::Fold& fold : folds_of(config, set))
    add(fmt::format("fold {}", ++number), fold.to_split(config.split));
  std::vector<UnixNanos> times;
  for (const train::Sequence& sequence : set.sequences)
    std::ranges::copy(sequence.available_at, std::back_inserter(times));
  std::ranges::sort(times);
  for (std::int64_t i = 0, tries = 0; i < random && tries < 50 * random; ++tries) {
    if (add(fmt::format("random {}", i + 1), random_split(times, rng))) ++i;
  }
  return splits;
}

}  // namespace foxhunt::proofs
