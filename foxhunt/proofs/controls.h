#pragma once
// Controls with a fast linear probe: what may not be learnt is not, what must be learnt is. A chain
// of tools that passes every other proof but sees nothing would fail here.
//
// The probe is ridge regression of the label's value on the rows as the trainer gets them, fitted
// on train and judged on valid and test together by the correlation of forecast and outcome.

#include <cstdint>

#include "foxhunt/proofs/stream_proofs.h"
#include "foxhunt/proofs/verdict.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"

namespace foxhunt::proofs {

struct ControlBounds {
  /// Correlation that shuffled labels may show, in standard errors 1/sqrt(rows): passed by chance
  /// once in 15,000 times.
  double shuffled_errors = 4.0;
  /// Correlation that must be reached where a column is the future return itself.
  double planted = 0.9;
  /// Correlation of a single column with the label above which it is too good to be true, with 5
  /// standard errors (of rows / horizon independent ones) on top. Minute bars show below 0.1.
  double too_good = 0.3;
};

/// Labels shuffled: no edge.
Verdict prove_no_edge_on_shuffled_labels(const train::SequenceSet& set, const train::Split& split,
                                         double clip, std::uint64_t seed,
                                         ControlBounds bounds = {});

/// A column that is the future return: learnt, and better than the same column one row early or
/// late, or rows and labels do not stand beside each other.
Verdict prove_planted_leak_is_learnt(const train::SequenceSet& set, const train::Split& split,
                                     double clip, ControlBounds bounds = {});

/// No column alone knows the label too well. A leak that hides from every other proof, as a column
/// that reads the answer from elsewhere, shows here if it is of any use.
Verdict prove_no_column_is_the_answer(const train::SequenceSet& set, std::int64_t horizon,
                                      ControlBounds bounds = {});

}  // namespace foxhunt::proofs
