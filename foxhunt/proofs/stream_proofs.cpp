#include "foxhunt/proofs/stream_proofs.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/proofs/compare.h"
#include "foxhunt/proofs/points.h"
#include "foxhunt/proofs/poison.h"

namespace foxhunt::proofs {
namespace {

using market::Bar;

/// What a stream that begins late has to agree in, from `begin` on.
struct LateStart {
  std::span<const Bar> bars;  ///< of the late stream
  std::int64_t longest = 1;   ///< warm-up of the whole source

  /// The first time from which a warm-up of so many bars is over; never within these bars: max().
  UnixNanos over(std::int64_t warm_up) const {
    const auto place = static_cast<std::size_t>(warm_up - 1);
    return place < bars.size() ? bars[place].end() : UnixNanos::max();
  }
};

Counterexample value_difference(const Series& series, std::size_t column, UnixNanos at, float was,
                                float is) {
  return {.column = fmt::format("{}.{}", series.name, series.schema.columns[column].name),
          .at = at,
          .before = value_text(was),
          .after = value_text(is)};
}

/// A column may be there earlier than the longest warm-up; then it has to agree from its own on.
std::optional<Counterexample> late_difference(const Series& series, const Entries& full,
                                              const Entries& late, const LateStart& start,
                                              std::int64_t& compared) {
  const std::size_t width = series.width();
  std::vector<UnixNanos> from(width);
  for (std::size_t c = 0; c < width; ++c) from[c] = start.over(series.schema.columns[c].warm_up);
  std::size_t f = 0;
  for (std::size_t i = 0; i < late.size(); ++i) {
    const UnixNanos at = late.decided_at[i];
    while (f < full.size() && full.decided_at[f] < at) ++f;
    if (f == full.size() || full.decided_at[f] != at) continue;  // the whole row: below
    for (std::size_t c = 0; c < width; ++c) {
      if (at < from[c]) continue;
      const float was = full.values[f * width + c];
      const float is = late.values[i * width + c];
      ++compared;
      if (!same_bits(was, is)) return value_difference(series, c, at, was, is);
    }
  }
  return first_difference(
      series, full, late,
      {.known_until = start.bars.back().end(), .decided_from = start.over(start.longest)},
      compared);
}

/// Place of the entry decided at `at`, or size().
std::size_t entry_at(const Entries& entries, UnixNanos at) {
  const auto found = std::ranges::lower_bound(entries.decided_at, at);
  const bool there = found != entries.decided_at.end() && *found == at;
  return there ? static_cast<std::size_t>(found - entries.decided_at.begin()) : entries.size();
}

/// The neighbourhood of one deciding bar: as many bars as twice the warm-up before it, and its
/// reach.
class Neighbourhood {
 public:
  Neighbourhood(const Source& source, std::size_t series, std::span<const Bar> bars, std::size_t t)
      : source_(source), series_(series) {
    const auto past = static_cast<std::size_t>(2 * source.warm_up());
    const auto reach = static_cast<std::size_t>(source.series()[series].reach);
    const std::size_t first = t - std::min(t, past);
    const std::size_t behind = std::min(bars.size(), t + reach + 1);
    bars_.assign(bars.begin() + static_cast<std::ptrdiff_t>(first),
                 bars.begin() + static_cast<std::ptrdiff_t>(behind));
    deciding_ = t - first;
  }

  std::size_t deciding() const { return deciding_; }
  UnixNanos at() const { return bars_[deciding_].end(); }
  /// Values [F] at the deciding bar, after [from, to) was changed; empty where there is no entry.
  std::vector<float> values(std::size_t from, std::size_t to, Rng& rng) const {
    std::vector<Bar> bars = bars_;
    change_values(std::span(bars).subspan(from, to - from), rng);
    const Entries entries = source_.run(bars)[series_];
    const std::size_t place = entry_at(entries, at());
    if (place == entries.size()) return {};
    const std::size_t width = source_.series()[series_].width();
    const auto row = entries.values.begin() + static_cast<std::ptrdiff_t>(place * width);
    return {row, row + static_cast<std::ptrdiff_t>(width)};
  }

 private:
  const Source& source_;
  std::size_t series_;
  std::vector<Bar> bars_;
  std::size_t deciding_ = 0;
};

/// Tries at one deciding bar; `mattered` [F] is set where the oldest bar of a warm-up counted.
void try_warm_up(const Series& series, const Neighbourhood& near, std::vector<bool>& mattered,
                 Rng& rng, Verdict& verdict) {
  const std::vector<float> clean = near.values(0, 0, rng);
  if (clean.empty()) return;
  ++verdict.tries;
  for (std::size_t c = 0; c < series.width(); ++c) {
    const auto warm_up = static_cast<std::size_t>(series.schema.columns[c].warm_up);
    if (near.deciding() + 1 <= warm_up) continue;
    const std::size_t oldest = near.deciding() + 1 - warm_up;
    const std::vector<float> older = near.values(0, oldest, rng);
    ++verdict.compared;
    if (older.empty() || !same_bits(older[c], clean[c])) {
      Counterexample found =
          value_difference(series, c, near.at(), clean[c], older.empty() ? kNoValue : older[c]);
      found.what = fmt::format("bars older than its warm-up of {} bars were changed", warm_up);
      verdict.fail(std::move(found));
    }
    if (warm_up == 1 || mattered[c]) continue;
    const std::vector<float> other = near.values(oldest, oldest + 1, rng);
    mattered[c] = other.empty() || !same_bits(other[c], clean[c]);
  }
}

}  // namespace

Verdict prove_future_poisoning(const Source& source, const Ground& ground) {
  Verdict verdict{.name = "future-poisoning"};
  Rng rng = Rng(ground.seed).split("future");
  const std::vector<Entries> clean = source.run(ground.bars);
  const auto points = choose_points(ground.bars, clean.front(), ground.points, rng);
  std::size_t turn = 0;
  for (const std::size_t point : points) {
    const UnixNanos t = ground.bars[point].end();
    const Poison other = kPoisons[2 + turn++ % (kPoisons.size() - 2)];
    for (const Poison poison : {Poison::kValues, Poison::kDeleted, other}) {
      const auto after = source.run(with_other_future(ground.bars, point, poison, rng));
      ++verdict.tries;
      std::optional<Counterexample> found;
      for (std::size_t s = 0; s < clean.size() && !found; ++s) {
        found = first_difference(source.series()[s], clean[s], after[s], {.known_until = t},
                                 verdict.compared);
      }
      if (!found) continue;
      found->t = t;
      found->what = fmt::format("{} after", name_of(poison));
      verdict.fail(*std::move(found));
    }
  }
  return verdict;
}

Verdict prove_prefix_invariance(const Source& source, const Ground& ground) {
  Verdict verdict{.name = "prefix-invariance"};
  Rng rng = Rng(ground.seed).split("prefix");
  const auto points =
      choose_points(ground.bars, source.run(ground.bars).front(), ground.points, rng);
  // [a, c) once for each of a few beginnings, [a, b) for each point b.
  std::size_t first = 0;
  std::vector<Entries> whole = source.run(ground.bars);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == points.size() / 2) {
      first = points[i / 2];
      whole = source.run(ground.bars.subspan(first));
    }
    const UnixNanos t = ground.bars[points[i]].end();
    const auto part = source.run(ground.bars.subspan(first, points[i] + 1 - first));
    ++verdict.tries;
    for (std::size_t s = 0; s < whole.size(); ++s) {
      auto found = first_difference(source.series()[s], whole[s], part[s], {.known_until = t},
                                    verdict.compared);
      if (!found) continue;
      found->t = t;
      found->what = "the data ended at";
      verdict.fail(*std::move(found));
      break;
    }
  }
  return verdict;
}

Verdict prove_batch_is_stream(const Source& source, const Ground& ground) {
  constexpr std::size_t kBehind = 400;  // bars that the late stream goes on after its warm-up
  Verdict verdict{.name = "batch-is-stream"};
  Rng rng = Rng(ground.seed).split("stream");
  const std::vector<Entries> full = source.run(ground.bars);
  const auto length = static_cast<std::size_t>(source.warm_up()) + kBehind;
  for (const std::size_t point : choose_points(ground.bars, full.front(), ground.points, rng)) {
    const std::size_t begin = point + 1;
    const LateStart start{
        .bars = ground.bars.subspan(begin, std::min(length, ground.bars.size() - begin)),
        .longest = source.warm_up()};
    const auto late = source.run(start.bars);
    ++verdict.tries;
    for (std::size_t s = 0; s < full.size(); ++s) {
      auto found = late_difference(source.series()[s], full[s], late[s], start, verdict.compared);
      if (!found) continue;
      found->t = start.bars.front().start;
      found->what = "the stream began at";
      verdict.fail(*std::move(found));
      break;
    }
  }
  return verdict;
}

Verdict prove_warm_up(const Source& source, const Ground& ground) {
  constexpr std::int64_t kTries = 12;
  Verdict verdict{.name = "warm-up"};
  Rng rng = Rng(ground.seed).split("warm-up");
  const std::vector<Entries> full = source.run(ground.bars);
  for (std::size_t s = 0; s < full.size(); ++s) {
    const Series& series = source.series()[s];
    std::vector<bool> mattered(series.width(), false);
    for (std::int64_t i = 0; i < kTries && full[s].size() > 0; ++i) {
      const UnixNanos at = full[s].decided_at[rng.below(full[s].size())];
      const auto bar =
          std::ranges::lower_bound(ground.bars, at, {}, [](const Bar& b) { return b.end(); });
      const auto t = static_cast<std::size_t>(bar - ground.bars.begin());
      try_warm_up(series, Neighbourhood(source, s, ground.bars, t), mattered, rng, verdict);
    }
    for (std::size_t c = 0; c < series.width(); ++c) {
      const features::Column& column = series.schema.columns[c];
      if (column.warm_up == 1 || mattered[c]) continue;
      verdict.notes.push_back(
          fmt::format("{}.{} declares a warm-up of {} bars, but the oldest of them never mattered",
                      series.name, column.name, column.warm_up));
    }
  }
  return verdict;
}

}  // namespace foxhunt::proofs
