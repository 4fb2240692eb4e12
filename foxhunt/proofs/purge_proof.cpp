// The purge against brute force: every pair of label intervals, no cleverness shared with the
// split.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "foxhunt/proofs/fit_proofs.h"

namespace foxhunt::proofs {
namespace {

using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;

struct Interval {
  UnixNanos from;
  UnixNanos to;
};

struct PartRows {
  std::vector<Interval> train{}, valid{}, test{}, purged{};
};

std::string text_of(const Interval& interval) {
  return fmt::format("[{}, {}]", to_string(interval.from), to_string(interval.to));
}

PartRows rows_by_part(const SequenceSet& set, const Split& split) {
  PartRows rows;
  for (std::size_t s = 0; s < set.sequences.size(); ++s) {
    const Sequence& sequence = set.sequences[s];
    for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
      const UnixNanos at = sequence.available_at[t];
      const Interval interval{at, sequence.labels.valid[t] != 0 ? sequence.labels.end[t] : at};
      const Part part = split.parts[s][t];
      if (part == Part::kTrain) rows.train.push_back(interval);
      if (part == Part::kValid) rows.valid.push_back(interval);
      if (part == Part::kTest) rows.test.push_back(interval);
      if (part == Part::kPurged) rows.purged.push_back(interval);
    }
  }
  return rows;
}

/// At most `most` of them: half the ones whose intervals end last or begin first, half at random.
std::vector<Interval> sample(std::vector<Interval> rows, std::size_t most, bool ends_last,
                             Rng& rng) {
  if (rows.size() <= most) return rows;
  std::ranges::sort(rows, [ends_last](const Interval& a, const Interval& b) {
    return ends_last ? a.to > b.to : a.from < b.from;
  });
  for (std::size_t i = most / 2; i < most; ++i)
    std::swap(rows[i], rows[i + rng.below(rows.size() - i)]);
  rows.resize(most);
  return rows;
}

class Purge {
 public:
  Purge(const NamedSplit& named, const SequenceSet& set, Split split, const Ground& ground,
        Verdict& verdict)
      : named_(named), split_(std::move(split)), verdict_(verdict) {
    Rng rng = Rng(ground.seed).split("purge pairs");
    const PartRows rows = rows_by_part(set, split_);
    no_touch(rows.train, rows.valid, "train", "validation", rng);
    no_touch(rows.train, rows.test, "train", "the test", rng);
    no_touch(rows.valid, rows.test, "validation", "the test", rng);
    keeps_away(rows.train, split_.train_end, "train");
    keeps_away(rows.valid, split_.valid_end, "validation");
    for (const Interval& row : rows.purged) had_to_go(row);
    for (const Interval& row : rows.valid) is_within(row, split_.train_end, split_.valid_end);
    for (const Interval& row : rows.test) is_within(row, split_.valid_end, split_.test_end);
    for (const Interval& row : rows.train) is_within(row, split_.train_begin, split_.train_end);
  }

 private:
  void fail(const Interval& row, std::string what) {
    verdict_.fail(
        {.at = row.from,
         .what = fmt::format("split '{}': the label {} {}", named_.name, text_of(row), what)});
  }

  void no_touch(const std::vector<Interval>& early, const std::vector<Interval>& late,
                const char* first, const char* second, Rng& rng) {
    constexpr std::size_t kMost = 1500;
    const std::vector<Interval> b = sample(late, kMost, /*ends_last=*/false, rng);
    for (const Interval& row : sample(early, kMost, /*ends_last=*/true, rng)) {
      for (const Interval& other : b) {
        ++verdict_.compared;
        if (row.to < other.from || other.to < row.from) continue;
        fail(row, fmt::format("of {} touches {} of {}", first, text_of(other), second));
        return;
      }
    }
  }

  void keeps_away(const std::vector<Interval>& rows, UnixNanos cut, const char* part) {
    for (const Interval& row : rows) {
      ++verdict_.compared;
      if (row.to >= cut - split_.embargo) fail(row, fmt::format("of {} reaches the embargo", part));
    }
  }

  void had_to_go(const Interval& row) {
    ++verdict_.compared;
    const UnixNanos cut = row.from < split_.train_end ? split_.train_end : split_.valid_end;
    if (row.to < cut - split_.embargo) fail(row, "was purged without need");
  }

  void is_within(const Interval& row, UnixNanos from, UnixNanos to) {
    ++verdict_.compared;
    if (row.from < from || row.from >= to) fail(row, "belongs to another part");
  }

  const NamedSplit& named_;
  Split split_;
  Verdict& verdict_;
};

/// Labels of random length in place of the real ones, some as long as the sequence.
void lengthen_labels(SequenceSet& set, Rng& rng) {
  for (Sequence& sequence : set.sequences) {
    const auto length = static_cast<std::size_t>(sequence.length());
    for (std::size_t t = 0; t < length; ++t) {
      const std::size_t most = rng.below(50) == 0 ? length : 60;
      const std::size_t end = t + rng.below(most);
      sequence.labels.valid[t] = end < length ? 1 : 0;
      sequence.labels.end[t] = end < length ? sequence.available_at[end] : kNullTime;
    }
  }
}

}  // namespace

Verdict prove_purge(const SequenceSet& set, std::span<const NamedSplit> splits,
                    const Ground& ground, const Machinery& machinery) {
  Verdict verdict{.name = "purge"};
  Rng rng = Rng(ground.seed).split("purge");
  for (const NamedSplit& named : splits) {
    SequenceSet random = set;
    lengthen_labels(random, rng);
    for (const SequenceSet* rows : {&set, static_cast<const SequenceSet*>(&random)}) {
      std::optional<Split> split = possible_split(named.config, *rows, machinery);
      if (!split) continue;
      Purge(named, *rows, *std::move(split), ground, verdict);
      ++verdict.tries;
    }
  }
  return verdict;
}

}  // namespace foxhunt::proofs
