#include "foxhunt/bundle/parity.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace foxhunt::bundle {

std::int64_t decision_of(std::span<const float> outputs, const model::HeadConfig& head) {
  switch (head.kind) {
    case model::HeadKind::kClassification:
    case model::HeadKind::kTokens:
      return std::max_element(outputs.begin(), outputs.end()) - outputs.begin();
    case model::HeadKind::kRegression:
    case model::HeadKind::kQuantiles:
      return outputs[outputs.size() / 2] > 0.0F ? 1 : 0;
  }
  return 0;
}

void ParityMeter::add(std::span<const float> trained, std::span<const float> engine) {
  ++parity_.rows;
  for (std::size_t k = 0; k < trained.size(); ++k) {
    const auto want = static_cast<double>(trained[k]);
    parity_.largest_output = std::max(parity_.largest_output, std::abs(want));
    double difference = std::abs(static_cast<double>(engine[k]) - want);
    if (!std::isfinite(difference)) difference = std::numeric_limits<double>::infinity();
    parity_.max_difference = std::max(parity_.max_difference, difference);
    sum_ += difference / static_cast<double>(trained.size());
  }
  if (decision_of(trained, head_) != decision_of(engine, head_)) ++parity_.decision_flips;
}

Parity ParityMeter::result() const {
  Parity parity = parity_;
  // All outputs zero: what differs at all is infinitely far.
  const double unit = parity.largest_output;
  const auto relative = [unit](double v) { return v == 0.0 ? 0.0 : v / unit; };
  parity.max_difference = relative(parity_.max_difference);
  parity.mean_difference =
      parity.rows == 0 ? 0.0 : relative(sum_ / static_cast<double>(parity.rows));
  return parity;
}

}  // namespace foxhunt::bundle
