#include "foxhunt/bundle/certificate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/model/model_meta.h"

namespace foxhunt::bundle {
namespace {

config::FieldList fields_of(Certificate& c) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr double kLargest = std::numeric_limits<double>::max();  // infinity is none
  config::FieldList list;
  config::FieldCollector key(list, "");
  key("rows", c.parity.rows, 0, kMost, "answers compared");
  key("warm_up_rows", c.parity.warm_up_rows, 0, kMost, "records without an answer");
  key("sequences", c.parity.sequences, 0, kMost, "restarts of the state");
  key("largest_output", c.parity.largest_output, 0.0, kLargest, "of the trained model");
  key("max_difference", c.parity.max_difference, 0.0, kLargest, "relative to largest_output");
  key("mean_difference", c.parity.mean_difference, 0.0, kLargest, "relative to largest_output");
  key("decision_flips", c.parity.decision_flips, 0, kMost, "decisions that changed");
  key("bound_difference", c.bound.difference, 0.0, kLargest, "of max_difference");
  key("bound_flip_rate", c.bound.flip_rate, 0.0, 1.0, "of decision_flips / rows");
  key("kernels", c.kernels, "of the engine that was compared");
  key("reference", c.reference, "what it was compared with");
  key("cpu", c.cpu, "on which machine");
  key("data", c.data, "over which rows");
  return list;
}

}  // namespace

// A difference is relative to the largest output, since that is what an answer is read against: an
// output near zero has no relative accuracy of its own. u is the rounding of one number.
ParityBound bound_of(WeightForm form) {
  switch (form) {
    case WeightForm::kF32:
      // Nothing is narrowed; sums are in another order. A sum of n products errs by about sqrt(n) u
      // of its terms, u = 2^-24: 1e-6 for the widths here, a few of them after each other. Only
      // answers that lie that near a tie may change.
      return {.difference = 1e-5, .flip_rate = 0.001};
    case WeightForm::kF16:
      // Weights are off by up to u = 2^-11 = 4.9e-4, with either sign, so sums are off by less;
      // four of that for the layers after each other.
      return {.difference = 2e-3, .flip_rate = 0.01};
    case WeightForm::kBF16:
      // u = 2^-8 / 2 = 2e-3, of weights and of inputs: ten of it, as for fp16 with both roundings.
      return {.difference = 2e-2, .flip_rate = 0.02};
    case WeightForm::kI8:
      // Half a step is 1 / 254 = 4e-3 of the largest weight of a row and of the largest input,
      // which is more of a typical one: twelve of it. More than one decision in twenty changed is
      // another model.
      return {.difference = 5e-2, .flip_rate = 0.05};
  }
  return {};  // which nothing but equality meets
}

bool Parity::meets(const ParityBound& bound) const {
  // Each comparison is false for a NaN.
  return rows > 0 && std::isfinite(largest_output) && max_difference >= 0 &&
         max_difference <= bound.difference && mean_difference >= 0 &&
         mean_difference <= bound.difference && decision_flips >= 0 &&
         static_cast<double>(decision_flips) <= bound.flip_rate * static_cast<double>(rows);
}

std::string Certificate::to_json() const {
  Certificate copy = *this;  // a field list points at what can be written
  return model::fields_to_json(fields_of(copy));
}

Certificate Certificate::from_json(const std::string& text, const std::string& origin) {
  Certificate certificate;
  config::FieldList list = fields_of(certificate);
  model::json_to_fields(list, text, origin);
  std::vector<std::string> problems = config::range_errors(list);
  const Parity& parity = certificate.parity;
  if (parity.decision_flips > parity.rows) {
    problems.push_back(fmt::format("decision_flips = {} are more than rows = {}",
                                   parity.decision_flips, parity.rows));
  }
  if (parity.mean_difference > parity.max_difference) {
    problems.push_back(fmt::format("mean_difference = {} is above max_difference = {}",
                                   parity.mean_difference, parity.max_difference));
  }
  if (!problems.empty())
    throw FormatError(fmt::format("{}: {}", origin, fmt::join(problems, "; ")));
  return certificate;
}

}  // namespace foxhunt::bundle
