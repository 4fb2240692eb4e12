#pragma once
// What is under proof: anything that turns a stream of bars into values, and says of each value
// when it may first be used.
//
// A feature at bar t is decided and known at the end of the bar. A label is decided there too, but
// known only at the end of its interval. With both times beside every value, one rule covers both:
// a value that is known at t is a function of bars known at t.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/record.h"

namespace foxhunt::proofs {

/// Says nothing here: the source is still warming up in this column.
inline constexpr float kNoValue = std::numeric_limits<float>::quiet_NaN();

/// The values of one series, oldest first. T entries, F columns.
struct Entries {
  std::vector<UnixNanos> decided_at{};  ///< [T] increasing
  std::vector<UnixNanos> known_at{};    ///< [T] >= decided_at
  std::vector<float> values{};          ///< [T, F]; kNoValue where a column says nothing

  std::size_t size() const { return known_at.size(); }
};

/// What the columns of a series are. `warm_up` of a column: the value is a function of so many bars
/// up to and with the deciding one, and of `reach` bars behind it.
struct Series {
  std::string name{};
  features::Schema schema{};
  std::int64_t reach = 0;

  std::size_t width() const { return schema.columns.size(); }
};

class Source {
 public:
  virtual ~Source() = default;
  virtual const std::vector<Series>& series() const = 0;
  /// One Entries for each series, made of these bars alone and from the beginning. Bars come in the
  /// order in which they would arrive, usable or not. Errors  none for any content of a bar.
  virtual std::vector<Entries> run(std::span<const market::Bar> bars) const = 0;

  /// Bars that are enough for every column of every series.
  std::int64_t warm_up() const {
    std::int64_t longest = 1;
    for (const Series& s : series()) longest = std::max(longest, s.schema.warm_up());
    return longest;
  }
};

}  // namespace foxhunt::proofs
