#include "foxhunt/train/windows.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::train {
namespace {

bool has_loss(const Sequence& sequence, const std::vector<Part>& parts, std::size_t t, Part part) {
  return parts[t] == part && sequence.labels.valid[t] != 0;
}

/// Rows up to and with the last labelled one of `part`; 0 without any.
std::int64_t rows_to_last(const Sequence& sequence, const std::vector<Part>& parts, Part part) {
  std::size_t t = parts.size();
  while (t > 0 && !has_loss(sequence, parts, t - 1, part)) --t;
  return static_cast<std::int64_t>(t);
}

bool has_any_loss(const Sequence& sequence, const std::vector<Part>& parts, const Window& window) {
  for (std::int64_t i = window.loss_from; i < window.length; ++i) {
    if (has_loss(sequence, parts, static_cast<std::size_t>(window.first + i), Part::kTrain)) {
      return true;
    }
  }
  return false;
}

void require_usable(WindowConfig& config) {
  config::require_in_range(config::fields_of(config), "windows");
  if (config.burn_in >= config.length) {
    throw ConfigError(
        fmt::format("[windows] burn_in = {} leaves no row of length = {} for the loss",
                    config.burn_in, config.length));
  }
  if (config.stride > config.length - config.burn_in) {
    throw ConfigError(
        fmt::format("[windows] stride = {} is over length - burn_in = {}: rows between "
                    "windows would never be learnt",
                    config.stride, config.length - config.burn_in));
  }
}

}  // namespace

std::vector<Window> training_windows(WindowConfig config, std::span<const Sequence> sequences,
                                     const Split& split) {
  require_usable(config);
  std::vector<Window> windows;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const std::int64_t rows = rows_to_last(sequences[s], split.parts[s], Part::kTrain);
    std::int64_t covered = 0;
    for (std::int64_t first = 0; covered < rows; first += config.step()) {
      const Window window{.sequence = static_cast<std::int64_t>(s),
                          .first = first,
                          .length = std::min(config.length, rows - first),
                          .loss_from = first == 0 ? 0 : config.burn_in};
      covered = first + window.length;
      if (has_any_loss(sequences[s], split.parts[s], window)) windows.push_back(window);
    }
  }
  return windows;
}

std::vector<Window> whole_sequences(std::span<const Sequence> sequences, const Split& split,
                                    Part part) {
  std::vector<Window> windows;
  for (std::size_t s = 0; s < sequences.size(); ++s) {
    const std::int64_t rows = rows_to_last(sequences[s], split.parts[s], part);
    if (rows == 0) continue;
    windows.push_back({.sequence = static_cast<std::int64_t>(s), .first = 0, .length = rows});
  }
  return windows;
}

BatchFiller::BatchFiller(const SequenceSet& set, const Split& split,
                         const features::Normalizer& normalizer, Part part)
    : set_(set), split_(split), normalizer_(normalizer), part_(part) {
  normalizer_.require_schema(set_.schema);
}

void BatchFiller::shape(std::span<const Window> windows, std::int64_t pad_to, Batch& batch) const {
  std::int64_t longest = 0;
  for (const Window& window : windows) {
    const auto sequences = static_cast<std::int64_t>(set_.sequences.size());
    if (window.sequence < 0 || window.sequence >= sequences || window.first < 0 ||
        window.length < 1 ||
        window.first + window.length >
            set_.sequences[static_cast<std::size_t>(window.sequence)].length()) {
      throw ShapeError(fmt::format("[windows] rows {} to {} of sequence {} do not exist",
                                   window.first, window.first + window.length, window.sequence));
    }
    longest = std::max(longest, window.length);
  }
  if (pad_to > 0 && longest > pad_to) {
    throw ShapeError(
        fmt::format("[windows] a window of {} rows does not fit into {}", longest, pad_to));
  }
  batch.B = static_cast<std::int64_t>(windows.size());
  batch.T = pad_to > 0 ? pad_to : longest;
  batch.F = normalizer_.width();
  const auto cells = static_cast<std::size_t>(batch.B * batch.T);
  batch.classes.assign(cells, kNoClass);
  batch.values.assign(cells, 0.0F);
  batch.mask.assign(cells, 0.0F);
  batch.lengths.assign(windows.size(), 0);
}

void BatchFiller::fill(std::span<const Window> windows, std::int64_t pad_to, Batch& batch) const {
  shape(windows, pad_to, batch);
  batch.features.assign(static_cast<std::size_t>(batch.B * batch.T * batch.F), 0.0F);
  for (std::int64_t b = 0; b < batch.B; ++b) {
    const Window& window = windows[static_cast<std::size_t>(b)];
    fill_features(window, b, batch);
    fill_row_labels(window, b, batch);
  }
}

void BatchFiller::fill_labels(std::span<const Window> windows, Batch& batch) const {
  shape(windows, 0, batch);
  batch.features.clear();
  for (std::int64_t b = 0; b < batch.B; ++b)
    fill_row_labels(windows[static_cast<std::size_t>(b)], b, batch);
}

void BatchFiller::fill_features(const Window& window, std::int64_t b, Batch& batch) const {
  const auto s = static_cast<std::size_t>(window.sequence);
  const Sequence& sequence = set_.sequences[s];
  const auto width = static_cast<std::size_t>(batch.F);
  const auto first = static_cast<std::size_t>(window.first);
  const auto length = static_cast<std::size_t>(window.length);
  const auto at = static_cast<std::size_t>(b * batch.T);
  normalizer_.apply(std::span(sequence.rows).subspan(first * width, length * width),
                    std::span(batch.features).subspan(at * width, length * width));
}

void BatchFiller::fill_row_labels(const Window& window, std::int64_t b, Batch& batch) const {
  const auto s = static_cast<std::size_t>(window.sequence);
  const Sequence& sequence = set_.sequences[s];
  const auto first = static_cast<std::size_t>(window.first);
  const auto length = static_cast<std::size_t>(window.length);
  const auto at = static_cast<std::size_t>(b * batch.T);
  batch.lengths[static_cast<std::size_t>(b)] = window.length;
  for (auto i = static_cast<std::size_t>(window.loss_from); i < length; ++i) {
    if (!has_loss(sequence, split_.parts[s], first + i, part_)) continue;
    batch.mask[at + i] = 1.0F;
    batch.classes[at + i] = static_cast<Class>(sequence.labels.classes[first + i]);
    batch.values[at + i] = sequence.labels.value[first + i];
  }
}

}  // namespace foxhunt::train
