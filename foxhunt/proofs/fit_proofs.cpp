#include "foxhunt/proofs/fit_proofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/proofs/poison.h"

namespace foxhunt::proofs {
namespace {

using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;

Counterexample about(const NamedSplit& split, UnixNanos at, std::string what) {
  return {.at = at,
          .what = fmt::format("split '{}', row of {}: {}", split.name, to_string(at), what)};
}

/// The same cuts, whatever the rows: fractions of the rows become the times that they were.
train::SplitConfig fixed(const train::SplitConfig& config, const Split& split) {
  train::SplitConfig out = config;
  out.train_end = to_string(split.train_end);
  out.valid_end = to_string(split.valid_end);
  return out;
}

void scramble_other_rows(SequenceSet& set, const Split& split, Rng& rng) {
  for (std::size_t s = 0; s < set.sequences.size(); ++s) {
    Sequence& sequence = set.sequences[s];
    const auto width = static_cast<std::size_t>(sequence.width);
    for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
      if (split.parts[s][t] == Part::kTrain) continue;
      for (std::size_t c = 0; c < width; ++c)
        sequence.rows[t * width + c] = static_cast<float>(rng.uniform(-1e3, 1e3));
    }
  }
}

/// Place of the first bar that is known at `t` or later.
std::size_t first_known_at(std::span<const market::Bar> bars, UnixNanos t) {
  const auto at =
      std::ranges::lower_bound(bars, t, {}, [](const market::Bar& b) { return b.end(); });
  return static_cast<std::size_t>(at - bars.begin());
}

}  // namespace

Verdict prove_normalizer_fit(const SequenceSet& set, std::span<const NamedSplit> splits,
                             std::uint64_t seed, double clip, const Machinery& machinery) {
  Verdict verdict{.name = "normaliser-fit"};
  Rng rng = Rng(seed).split("normaliser");
  for (const NamedSplit& named : splits) {
    const Split split = machinery.make_split(named.config, set.sequences);
    const std::string fitted = machinery.fit_normalizer(set, split, clip).to_json();
    SequenceSet rows = set;
    scramble_other_rows(rows, split, rng);
    ++verdict.tries;
    ++verdict.compared;
    if (machinery.fit_normalizer(rows, split, clip).to_json() != fitted) {
      verdict.fail(about(named, split.fit_range().last,
                         "rows outside of train were changed, and the fitted scale with them"));
    }
  }
  return verdict;
}

Verdict prove_normalizer_fit(const TrainingRows& source, const SequenceSet& set,
                             std::span<const NamedSplit> splits, const Ground& ground, double clip,
                             const Machinery& machinery) {
  Verdict verdict{.name = "normaliser-fit"};
  Rng rng = Rng(ground.seed).split("normaliser");
  for (const NamedSplit& named : splits) {
    const Split split = machinery.make_split(named.config, set.sequences);
    const std::string fitted = machinery.fit_normalizer(set, split, clip).to_json();
    const auto check = [&](const std::string& again, const char* what) {
      ++verdict.compared;
      if (again != fitted) verdict.fail(about(named, split.fit_range().last, what));
    };
    ++verdict.tries;
    SequenceSet rows = set;
    scramble_other_rows(rows, split, rng);
    check(machinery.fit_normalizer(rows, split, clip).to_json(),
          "rows outside of train were changed, and the fitted scale with them");

    std::vector<market::Bar> bars(ground.bars.begin(), ground.bars.end());
    change_values(std::span(bars).subspan(first_known_at(bars, split.train_end)), rng);
    const SequenceSet anew = source.sequences(bars);
    const Split same = machinery.make_split(fixed(named.config, split), anew.sequences);
    check(machinery.fit_normalizer(anew, same, clip).to_json(),
          "bars from the first cut on were changed, and the fitted scale with them");
  }
  return verdict;
}

}  // namespace foxhunt::proofs
