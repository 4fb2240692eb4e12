#include "foxhunt/train/split.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::train {
namespace {

struct Cuts {
  UnixNanos begin;
  UnixNanos first;
  UnixNanos second;
  UnixNanos end;
};

UnixNanos cut_time(const char* name, const std::string& text) {
  try {
    return parse_time(text);
  } catch (const ConfigError& error) {
    throw ConfigError(fmt::format("[split] {}: {}", name, error.what()));
  }
}

/// The times of the rows at which train_fraction and train_fraction + valid_fraction of all rows
/// are past.
Cuts cuts_by_fraction(const SplitConfig& config, std::span<const Sequence> sequences, Cuts cuts) {
  if (!(config.train_fraction + config.valid_fraction < 1.0)) {
    throw ConfigError(
        fmt::format("[split] train_fraction {} + valid_fraction {} leave no rows for "
                    "the test; their sum must be below 1",
                    config.train_fraction, config.valid_fraction));
  }
  std::vector<UnixNanos> times;
  for (const Sequence& sequence : sequences) {
    std::ranges::copy_if(sequence.available_at, std::back_inserter(times),
                         [&](UnixNanos t) { return t >= cuts.begin && t < cuts.end; });
  }
  if (times.empty()) throw ConfigError("[split] there are no rows to split");
  std::sort(times.begin(), times.end());
  const auto at = [&times](double fraction) {
    return times[static_cast<std::size_t>(
        std::floor(fraction * static_cast<double>(times.size())))];
  };
  cuts.first = at(config.train_fraction);
  cuts.second = at(config.train_fraction + config.valid_fraction);
  return cuts;
}

Cuts find_cuts(const SplitConfig& config, std::span<const Sequence> sequences) {
  if (config.train_end.empty() != config.valid_end.empty()) {
    throw ConfigError(
        fmt::format("[split] train_end = '{}' and valid_end = '{}': give both times, "
                    "or neither to cut by fractions",
                    config.train_end, config.valid_end));
  }
  Cuts cuts{.begin = UnixNanos::min(), .first = {}, .second = {}, .end = UnixNanos::max()};
  if (!config.train_begin.empty()) cuts.begin = cut_time("train_begin", config.train_begin);
  if (!config.test_end.empty()) cuts.end = cut_time("test_end", config.test_end);
  if (config.train_end.empty()) return cuts_by_fraction(config, sequences, cuts);
  cuts.first = cut_time("train_end", config.train_end);
  cuts.second = cut_time("valid_end", config.valid_end);
  const auto in_order = [](const char* early, UnixNanos a, const char* late, UnixNanos b) {
    if (a < b) return;
    throw ConfigError(
        fmt::format("[split] {} {} is not before {} {}", early, to_string(a), late, to_string(b)));
  };
  in_order("train_begin", cuts.begin, "train_end", cuts.first);
  in_order("train_end", cuts.first, "valid_end", cuts.second);
  in_order("valid_end", cuts.second, "test_end", cuts.end);
  return cuts;
}

/// End of the interval over which row `t` learns.
UnixNanos interval_end(const Sequence& sequence, std::size_t t) {
  return sequence.labels.valid[t] != 0 ? sequence.labels.end[t] : sequence.available_at[t];
}

Part part_of(const Split& split, UnixNanos available_at, UnixNanos end) {
  if (available_at < split.train_begin || available_at >= split.test_end) return Part::kOutside;
  if (available_at >= split.valid_end) return Part::kTest;
  if (available_at >= split.train_end) {
    return end >= split.valid_end - split.embargo ? Part::kPurged : Part::kValid;
  }
  return end >= split.train_end - split.embargo ? Part::kPurged : Part::kTrain;
}

void count_row(PartInterval& interval, const Sequence& sequence, std::size_t t) {
  const UnixNanos at = sequence.available_at[t];
  ++interval.rows;
  // Sequences may overlap in time, so the first row seen need not be the earliest. kNullTime is the
  // least of all times.
  interval.first_available = interval.rows == 1 ? at : std::min(interval.first_available, at);
  interval.last_available = std::max(interval.last_available, at);
  if (sequence.labels.valid[t] == 0) return;
  ++interval.labelled;
  interval.last_label_end = std::max(interval.last_label_end, sequence.labels.end[t]);
}

/// What there is of a part's time, for the message that nothing of it is usable.
void refuse_empty(const Split& split, std::span<const Sequence> sequences) {
  UnixNanos first = UnixNanos::max();
  UnixNanos last = UnixNanos::min();
  for (const Sequence& sequence : sequences) {
    if (sequence.length() == 0) continue;
    first = std::min(first, sequence.available_at.front());
    last = std::max(last, sequence.available_at.back());
  }
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest}) {
    const PartInterval& interval = split.interval(part);
    if (interval.labelled > 0) continue;
    const std::string why = interval.rows > 0
                                ? fmt::format("none of its {} rows has a label", interval.rows)
                                : fmt::format("no row is left in it ({} of all rows were purged)",
                                              split.interval(Part::kPurged).rows);
    throw ConfigError(fmt::format(
        "[split] the {} part is empty: {}. Train ends at {}, validation at {}, the embargo is {} "
        "minutes; rows reach from {} to {}",
        name_of(part), why, to_string(split.train_end), to_string(split.valid_end),
        std::chrono::duration_cast<std::chrono::minutes>(split.embargo).count(),
        first > last ? "nowhere" : to_string(first), first > last ? "nowhere" : to_string(last)));
  }
}

}  // namespace

const char* name_of(Part part) {
  switch (part) {
    case Part::kTrain:
      return "train";
    case Part::kValid:
      return "valid";
    case Part::kTest:
      return "test";
    case Part::kPurged:
      return "purged";
    case Part::kOutside:
      break;
  }
  return "unused";
}

std::string Split::summary() const {
  std::string text;
  for (const Part part : {Part::kTrain, Part::kValid, Part::kTest, Part::kPurged, Part::kOutside}) {
    const PartInterval& of = interval(part);
    if (part == Part::kOutside && of.rows == 0) continue;
    text += fmt::format("{:<6} {:>8} rows, {:>8} labels", name_of(part), of.rows, of.labelled);
    if (of.rows > 0) {
      text +=
          fmt::format(", {} to {}", to_string(of.first_available), to_string(of.last_available));
    }
    text += "\n";
  }
  return text;
}

Split make_split(SplitConfig config, std::span<const Sequence> sequences) {
  config::require_in_range(config::fields_of(config), "split");
  const Cuts cuts = find_cuts(config, sequences);
  Split split{.train_begin = cuts.begin,
              .train_end = cuts.first,
              .valid_end = cuts.second,
              .test_end = cuts.end,
              .embargo = std::chrono::minutes{config.embargo_minutes}};
  for (const Sequence& sequence : sequences) {
    std::vector<Part>& parts = split.parts.emplace_back();
    for (std::size_t t = 0; t < sequence.available_at.size(); ++t) {
      parts.push_back(part_of(split, sequence.available_at[t], interval_end(sequence, t)));
      count_row(split.intervals[static_cast<std::size_t>(parts.back())], sequence, t);
    }
  }
  refuse_empty(split, sequences);
  return split;
}

features::Normalizer fit_normalizer(const SequenceSet& set, const Split& split, double clip) {
  features::NormalizerFit fit(set.schema, split.fit_range());
  for (std::size_t s = 0; s < set.sequences.size(); ++s) {
    const Sequence& sequence = set.sequences[s];
    for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
      if (split.parts[s][t] != Part::kTrain) continue;
      fit.add(sequence.available_at[t], sequence.row(static_cast<std::int64_t>(t)));
    }
  }
  return fit.finish(clip);
}

}  // namespace foxhunt::train
