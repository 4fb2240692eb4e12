#pragma once
// Windows of sequences, and batches of windows as plain memory that a trainer wraps without a copy.
//
// A training window holds rows [first, first + length) of one sequence, none later than the
// sequence's last labelled training row. A loss falls on rows of train with a valid label, behind
// the burn-in where the window begins inside of its sequence: there the model starts from an empty
// state, although the market had a past. Windows of one sequence overlap by at least the burn-in,
// so every labelled training row gets a loss. The last window of a sequence may be shorter; it is
// kept and padded. For evaluation a window is a whole sequence from its first row.

#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/features/normalizer.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split.h"
#include "foxhunt/train/window_config.h"

namespace foxhunt::train {

struct Window {
  std::int64_t sequence = 0;   ///< index into SequenceSet::sequences
  std::int64_t first = 0;      ///< row of the sequence
  std::int64_t length = 0;     ///< rows, >= 1
  std::int64_t loss_from = 0;  ///< place in the window before which nothing counts
  friend bool operator==(const Window&, const Window&) = default;
};

/// Windows with at least one loss each, sequence by sequence, in the order of time.
/// Errors  ConfigError: a value out of range, burn_in >= length, or a stride over length - burn_in,
/// which would leave
///         rows out.
std::vector<Window> training_windows(WindowConfig config, std::span<const Sequence> sequences,
                                     const Split& split);

/// One window for each sequence that has a labelled row of `part`: from its first row to the last
/// such row.
std::vector<Window> whole_sequences(std::span<const Sequence> sequences, const Split& split,
                                    Part part);

/// Row-major and contiguous. Padding (places >= lengths[b]) is 0, with class kNoClass.
struct Batch {
  std::int64_t B = 0, T = 0, F = 0;
  std::vector<float> features;        ///< [B, T, F] normalised
  std::vector<std::int64_t> classes;  ///< [B, T] Class; kNoClass where mask is 0
  std::vector<float> values;          ///< [B, T] Labels::value; 0 where mask is 0
  std::vector<float> mask;            ///< [B, T] 1 where a loss falls, else 0
  std::vector<std::int64_t> lengths;  ///< [B] rows that are no padding
};

/// Fills batches from the rows of a set. Holds references: set, split and normaliser must outlive
/// it.
class BatchFiller {
 public:
  /// `part`: the rows that carry a loss.
  /// Errors  ConfigError when the normaliser was fitted on another schema.
  BatchFiller(const SequenceSet& set, const Split& split, const features::Normalizer& normalizer,
              Part part);

  /// One row of the batch for each window, in their order, padded to `pad_to` rows, or to the
  /// longest of the windows when it is 0. Memory of `batch` is used again. No windows: B = 0.
  /// Errors  ShapeError when a window is longer than pad_to or lies outside of its sequence.
  void fill(std::span<const Window> windows, std::int64_t pad_to, Batch& batch) const;
  /// The same without features: what falls a loss on, at no cost of normalising.
  void fill_labels(std::span<const Window> windows, Batch& batch) const;

 private:
  void shape(std::span<const Window> windows, std::int64_t pad_to, Batch& batch) const;
  void fill_features(const Window& window, std::int64_t b, Batch& batch) const;
  void fill_row_labels(const Window& window, std::int64_t b, Batch& batch) const;

  const SequenceSet& set_;
  const Split& split_;
  const features::Normalizer& normalizer_;
  Part part_;
};

}  // namespace foxhunt::train
