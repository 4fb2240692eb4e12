#pragma once
// Train, validation and test by time, with purge and embargo. Rows are never shuffled over a cut.
//
// Let c1 = train_end, c2 = valid_end, e the embargo. A row belongs by its decision time,
// available_at:
//
//   train  before c1      valid  in [c1, c2)      test  from c2 on
//
// and is purged where the interval of its label [available_at, end] reaches into [c1 - e, ...) for
// a row of train, or [c2 - e, ...) for one of valid. Intervals are closed: to touch is to reach. A
// row without a label has the interval [available_at, available_at]. The embargo is cut off before
// a cut, so that the later part keeps all of its rows.
//
// Rows before train_begin and rows from test_end on belong to no part. The test is not purged at
// its end: nothing is learnt from it, and the rows of one walk-forward fold begin where the last
// ended.
//
// Features look back, over a cut too: a row of test may stem from bars of valid, which were the
// past when it was decided. What may not cross is the future: no row in a training window is later
// than the last training row.

#include <array>
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/features/normalizer.h"
#include "foxhunt/train/sequences.h"
#include "foxhunt/train/split_config.h"

namespace foxhunt::train {

/// kOutside: before train_begin or from test_end on.
enum class Part : std::uint8_t { kTrain, kValid, kTest, kPurged, kOutside };
inline constexpr std::size_t kParts = 5;

const char* name_of(Part part);

/// Rows of one part and the times that they span.
struct PartInterval {
  std::int64_t rows = 0;
  std::int64_t labelled = 0;              ///< rows with a valid label
  UnixNanos first_available = kNullTime;  ///< of the first row
  UnixNanos last_available = kNullTime;   ///< of the last row
  UnixNanos last_label_end = kNullTime;   ///< end of the last label interval
};

struct Split {
  UnixNanos train_begin = UnixNanos::min();
  UnixNanos train_end = kNullTime;  ///< c1
  UnixNanos valid_end = kNullTime;  ///< c2
  UnixNanos test_end = UnixNanos::max();
  std::chrono::nanoseconds embargo{0};
  std::vector<std::vector<Part>> parts{};        ///< [sequence][T]
  std::array<PartInterval, kParts> intervals{};  ///< by Part

  const PartInterval& interval(Part part) const {
    return intervals[static_cast<std::size_t>(part)];
  }
  /// Where a normaliser may be fitted.
  features::FitRange fit_range() const {
    return {interval(Part::kTrain).first_available, interval(Part::kTrain).last_available};
  }
  /// A line a part, for people.
  std::string summary() const;
};

/// Errors  ConfigError: a value out of range, a time that cannot be read, only one of the two times
/// given, cuts in the
///         wrong order, fractions that leave nothing for the test, or a part without a single
///         label: it says why.
Split make_split(SplitConfig config, std::span<const Sequence> sequences);

/// Fitted on the rows of train, and only those.
features::Normalizer fit_normalizer(const SequenceSet& set, const Split& split, double clip);

}  // namespace foxhunt::train
