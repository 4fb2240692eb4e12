#pragma once
// What a proof answers: whether it holds, how much was looked at, and the first thing that does not
// fit.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/base/time.h"

namespace foxhunt::proofs {

/// One value that is not what it must be.
struct Counterexample {
  std::string column{};           ///< "features.ret_5"; "" where it is no single column
  UnixNanos t = kNullTime;        ///< what came after it was changed (or: the stream began here)
  UnixNanos at = kNullTime;       ///< the value belongs to this time
  std::string before{}, after{};  ///< the value without and with the change; "absent"
  std::string what{};             ///< the change, in words

  /// "features.ret_5 at 2013-…Z: 0.25 became 0.75 when … after 2013-…Z changed"
  std::string text() const;
};

struct Verdict {
  std::string name{};                     ///< "future-poisoning"
  std::int64_t tries = 0;                 ///< points, starts, splits: what was varied
  std::int64_t compared = 0;              ///< single values held against each other
  std::int64_t failures = 0;              ///< tries that did not hold
  std::optional<Counterexample> first{};  ///< of the failures
  std::vector<std::string> notes{};       ///< what is no failure, but worth knowing

  bool holds() const { return failures == 0; }
  void fail(Counterexample found) {
    ++failures;
    if (!first) first = std::move(found);
  }
};

/// The shortest text that reads back to the same float; "absent" for a value that is not there.
std::string value_text(float value);

}  // namespace foxhunt::proofs
