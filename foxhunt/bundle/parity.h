#pragma once
// How far one model's answers are from another's, row by row.

#include <span>

#include "foxhunt/bundle/certificate.h"
#include "foxhunt/model/head_config.h"

namespace foxhunt::bundle {

/// What an answer is taken for: the largest class (the first of equal ones); whether a value, or
/// the middle quantile, is above zero.
std::int64_t decision_of(std::span<const float> outputs, const model::HeadConfig& head);

class ParityMeter {
 public:
  explicit ParityMeter(const model::HeadConfig& head) : head_(head) {}
  /// Outputs [K] of both for one row. A value of `engine` that is not finite is infinitely far.
  void add(std::span<const float> trained, std::span<const float> engine);
  /// A record without an answer in both; the first row of a sequence.
  void add_warm_up() { ++parity_.warm_up_rows; }
  void add_sequence() { ++parity_.sequences; }
  Parity result() const;

 private:
  model::HeadConfig head_;
  Parity parity_{};  ///< differences still absolute
  double sum_ = 0;
};

}  // namespace foxhunt::bundle
