#include "foxhunt/proofs/controls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/evaluation/baselines/ridge.h"
#include "foxhunt/train/windows.h"

namespace foxhunt::proofs {
namespace {

using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;

/// Rows with a label, [N, F] and [N].
struct Examples {
  std::vector<float> x{};
  std::vector<double> y{};
  std::size_t width = 0;

  evaluation::FeatureRows rows() const { return {.values = x, .cols = width}; }
};

/// The way of the trainer: windows, normalised rows, the label beside each.
void add_part(const SequenceSet& set, const Split& split, const features::Normalizer& normalizer,
              Part part, Examples& out) {
  const auto windows = train::whole_sequences(set.sequences, split, part);
  train::Batch batch;
  const train::BatchFiller filler(set, split, normalizer, part);
  for (const train::Window& window : windows) {
    filler.fill(std::span(&window, 1), 0, batch);
    const auto width = static_cast<std::size_t>(batch.F);
    out.width = width;
    for (std::size_t t = 0; t < batch.mask.size(); ++t) {
      if (batch.mask[t] == 0.0F) continue;
      const auto row = batch.features.begin() + static_cast<std::ptrdiff_t>(t * width);
      out.x.insert(out.x.end(), row, row + static_cast<std::ptrdiff_t>(width));
      out.y.push_back(batch.values[t]);
    }
  }
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const auto n = static_cast<double>(a.size());
  double sa = 0, sb = 0, saa = 0, sbb = 0, sab = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sa += a[i];
    sb += b[i];
    saa += a[i] * a[i];
    sbb += b[i] * b[i];
    sab += a[i] * b[i];
  }
  const double spread = (n * saa - sa * sa) * (n * sbb - sb * sb);
  return spread > 0 ? (n * sab - sa * sb) / std::sqrt(spread) : 0.0;
}

struct Parts {
  Examples train{}, later{};
};

Parts parts_of(const SequenceSet& set, const Split& split, double clip) {
  const features::Normalizer normalizer = train::fit_normalizer(set, split, clip);
  Parts parts;
  add_part(set, split, normalizer, Part::kTrain, parts.train);
  add_part(set, split, normalizer, Part::kValid, parts.later);
  add_part(set, split, normalizer, Part::kTest, parts.later);
  return parts;
}

double probe(const Parts& parts) {
  const auto model = evaluation::fit_ridge(parts.train.rows(), parts.train.y, 1e-3);
  return correlation(model.predict(parts.later.rows()), parts.later.y);
}

/// Column 0 becomes the label's value `shift` rows on.
SequenceSet with_oracle(const SequenceSet& set, std::ptrdiff_t shift) {
  SequenceSet planted = set;
  for (Sequence& sequence : planted.sequences) {
    const std::ptrdiff_t length = sequence.length();
    for (std::ptrdiff_t t = 0; t < length; ++t) {
      const std::ptrdiff_t from = std::clamp<std::ptrdiff_t>(t + shift, 0, length - 1);
      sequence.rows[static_cast<std::size_t>(t * sequence.width)] =
          sequence.labels.value[static_cast<std::size_t>(from)];
    }
  }
  return planted;
}

}  // namespace

Verdict prove_no_edge_on_shuffled_labels(const SequenceSet& set, const Split& split, double clip,
                                         std::uint64_t seed, ControlBounds bounds) {
  Verdict verdict{.name = "shuffled-labels"};
  Parts parts = parts_of(set, split, clip);
  Rng rng = Rng(seed).split("shuffled labels");
  rng.shuffle(parts.train.y);
  rng.shuffle(parts.later.y);
  const double edge = probe(parts);
  const double bound =
      bounds.shuffled_errors / std::sqrt(static_cast<double>(parts.later.y.size()));
  verdict.tries = 1;
  verdict.compared = std::ssize(parts.later.y);
  verdict.notes.push_back(fmt::format("correlation {:.4f}, at most {:.4f} allowed", edge, bound));
  if (!(std::abs(edge) <= bound))
    verdict.fail(
        {.what = fmt::format("shuffled labels were forecast with correlation {:.4f}", edge)});
  return verdict;
}

Verdict prove_planted_leak_is_learnt(const SequenceSet& set, const Split& split, double clip,
                                     ControlBounds bounds) {
  Verdict verdict{.name = "planted-leak"};
  double found[3] = {};
  for (std::ptrdiff_t shift = -1; shift <= 1; ++shift) {
    const Parts parts = parts_of(with_oracle(set, shift), split, clip);
    found[shift + 1] = probe(parts);
    verdict.compared += std::ssize(parts.later.y);
    ++verdict.tries;
  }
  const auto [early, there, late] = found;
  verdict.notes.push_back(fmt::format(
      "correlation {:.4f}, at least {:.4f} asked for; a row early {:.4f}, a row late {:.4f}", there,
      bounds.planted, early, late));
  if (!(there >= bounds.planted))
    verdict.fail({.what = fmt::format("a column that is the future return was forecast from with "
                                      "correlation {:.4f} only",
                                      there)});
  if (!(there > early && there > late))
    verdict.fail({.what = "a column that is the future return helps more a row early or late: rows "
                          "and labels do not line up"});
  return verdict;
}

Verdict prove_no_column_is_the_answer(const SequenceSet& set, std::int64_t horizon,
                                      ControlBounds bounds) {
  Verdict verdict{.name = "too-good-columns"};
  std::vector<double> y;
  for (const Sequence& sequence : set.sequences) {
    for (std::size_t t = 0; t < sequence.labels.valid.size(); ++t) {
      if (sequence.labels.valid[t] != 0) y.push_back(sequence.labels.value[t]);
    }
  }
  const double independent = static_cast<double>(y.size()) / static_cast<double>(horizon);
  const double bound = bounds.too_good + 5.0 / std::sqrt(std::max(independent, 1.0));
  std::pair<double, std::string> best{0.0, "none"};
  for (std::size_t c = 0; c < set.schema.columns.size(); ++c) {
    std::vector<double> x;
    for (const Sequence& sequence : set.sequences) {
      for (std::size_t t = 0; t < sequence.labels.valid.size(); ++t) {
        if (sequence.labels.valid[t] != 0)
          x.push_back(sequence.row(static_cast<std::int64_t>(t))[c]);
      }
    }
    const double found = std::abs(correlation(x, y));
    ++verdict.tries;
    verdict.compared += std::ssize(x);
    best = std::max(best, {found, set.schema.columns[c].name});
    if (!(found <= bound))
      verdict.fail(
          {.what = fmt::format("column '{}' has correlation {:.4f} with the label, more than "
                               "{:.4f}: too good to be true",
                               set.schema.columns[c].name, found, bound)});
  }
  verdict.notes.push_back(fmt::format("largest correlation {:.4f}, of '{}'; at most {:.4f} allowed",
                                      best.first, best.second, bound));
  return verdict;
}

}  // namespace foxhunt::proofs
