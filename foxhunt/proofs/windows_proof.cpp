// Training windows held to what they may see, place by place, and to what they must teach.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "foxhunt/proofs/fit_proofs.h"

namespace foxhunt::proofs {
namespace {

using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;
using train::Window;

class Windows {
 public:
  Windows(const NamedSplit& named, const SequenceSet& set, const Split& split,
          const WindowRules& rules, Verdict& verdict)
      : named_(named), set_(set), split_(split), rules_(rules), verdict_(verdict) {
    for (const auto& parts : split.parts) with_loss_.emplace_back(parts.size(), false);
  }

  /// `mask`: where its losses fall.
  void look_at(const Window& window, const float* mask) {
    const auto s = static_cast<std::size_t>(window.sequence);
    const Sequence& sequence = set_.sequences[s];
    for (std::int64_t i = 0; i < window.length; ++i) {
      const auto t = static_cast<std::size_t>(window.first + i);
      ++verdict_.compared;
      if (sequence.available_at[t] >= split_.train_end)
        fail(sequence, t, "in a training window behind the cut");
      if (i > 0 && rules_.longest_hole &&
          sequence.bar_start[t] - sequence.available_at[t - 1] > *rules_.longest_hole)
        fail(sequence, t, "behind a break in the middle of a training window");
      if (mask[i] == 0.0F) continue;
      with_loss_[s][t] = true;
      if (split_.parts[s][t] != Part::kTrain)
        fail(sequence, t, "carries a loss and is not of train");
      if (sequence.labels.end[t] >= split_.train_end - split_.embargo)
        fail(sequence, t, "carries a loss, and its label reaches the cut or its embargo");
    }
  }

  /// Whether it may be looked at.
  bool lies_in_its_sequence(const Window& window) {
    const auto sequences = std::ssize(set_.sequences);
    const bool is_one = window.sequence >= 0 && window.sequence < sequences;
    const Sequence& sequence =
        set_.sequences[is_one ? static_cast<std::size_t>(window.sequence) : 0];
    if (is_one && window.first >= 0 && window.length >= 1 &&
        window.first + window.length <= sequence.length())
      return true;
    ++verdict_.compared;
    fail(sequence, 0,
         fmt::format("a training window of rows {} to {} reaches out of sequence {} of {} rows",
                     window.first, window.first + window.length, window.sequence,
                     sequence.length()));
    return false;
  }

  void every_labelled_row_of_train_has_a_loss() {
    for (std::size_t s = 0; s < set_.sequences.size(); ++s) {
      for (std::size_t t = 0; t < split_.parts[s].size(); ++t) {
        const bool labelled =
            split_.parts[s][t] == Part::kTrain && set_.sequences[s].labels.valid[t] != 0;
        if (labelled && !with_loss_[s][t])
          fail(set_.sequences[s], t, "a labelled row of train without a loss");
      }
    }
  }

 private:
  void fail(const Sequence& sequence, std::size_t t, std::string what) {
    const UnixNanos at = sequence.available_at[t];
    verdict_.fail(
        {.at = at,
         .what = fmt::format("split '{}', row of {}: {}", named_.name, to_string(at), what)});
  }

  const NamedSplit& named_;
  const SequenceSet& set_;
  const Split& split_;
  const WindowRules& rules_;
  Verdict& verdict_;
  std::vector<std::vector<bool>> with_loss_;
};

}  // namespace

Verdict prove_windows(const SequenceSet& set, std::span<const NamedSplit> splits,
                      const WindowRules& rules, const Machinery& machinery) {
  Verdict verdict{.name = "windows"};
  for (const NamedSplit& named : splits) {
    const Split split = machinery.make_split(named.config, set.sequences);
    const features::Normalizer normalizer = train::fit_normalizer(set, split, rules.clip);
    std::vector<Window> cut = machinery.training_windows(rules.windows, set.sequences, split);
    Windows windows(named, set, split, rules, verdict);
    std::erase_if(cut, [&](const Window& w) { return !windows.lies_in_its_sequence(w); });
    train::Batch batch;
    train::BatchFiller(set, split, normalizer, Part::kTrain).fill_labels(cut, batch);
    for (std::size_t w = 0; w < cut.size(); ++w)
      windows.look_at(cut[w], batch.mask.data() + w * static_cast<std::size_t>(batch.T));
    windows.every_labelled_row_of_train_has_a_loss();
    ++verdict.tries;
  }
  return verdict;
}

}  // namespace foxhunt::proofs
