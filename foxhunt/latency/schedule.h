#pragma once
// When the events come.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"

namespace foxhunt::latency {

/// Back to back: each step starts when the one before is done; its latency is done - started.
/// Fixed and Poisson: events are due at times that no step can move; a latency is done - due, so a
/// step that starts late because the one before was slow is charged for it (coordinated omission).
class Schedule {
 public:
  enum class Kind { kBackToBack, kFixed, kPoisson };

  static Schedule back_to_back() { return Schedule(Kind::kBackToBack, 0.0, {}); }
  /// Every `gap_us`. Errors  UsageError unless it is positive and finite.
  static Schedule fixed(double gap_us);
  /// Independent arrivals, `gap_us` apart on average; the due times of `period` events are drawn
  /// here and repeat, shifted, so that nothing is drawn while timing. Errors  as fixed(), and
  /// period < 1.
  static Schedule poisson(double gap_us, Rng& rng, std::int64_t period = 4096);

  Kind kind() const noexcept { return kind_; }
  double gap_us() const noexcept { return gap_us_; }  ///< mean; 0: back to back
  bool spaced() const noexcept { return kind_ != Kind::kBackToBack; }
  /// Due time of event i >= 0 after the start, in ns: the first is due after a gap. 0 back to back.
  double due_ns(std::int64_t event) const noexcept;
  /// "back_to_back", "20us", "1ms", "poisson_20us".
  std::string name() const;

 private:
  Schedule(Kind kind, double gap_us, std::vector<double> arrivals)
      : kind_(kind), gap_us_(gap_us), arrivals_(std::move(arrivals)) {}

  Kind kind_;
  double gap_us_;
  std::vector<double> arrivals_;  ///< ns; the last one is the length of the period
};

}  // namespace foxhunt::latency
