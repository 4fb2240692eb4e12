#pragma once
// A model's outputs as what they mean: probabilities, a value, quantiles; and as a JSON line.
// Torch-free.
//
// Batch evaluation and bar-by-bar prediction both end here.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/price.h"
#include "foxhunt/base/time.h"
#include "foxhunt/model/head_config.h"

namespace foxhunt::bundle {

/// Names of direction classes: "down", "flat", "up".
std::string_view class_name(std::int64_t index);

/// Outputs [K] of the head: softmax for classification (in float64), as they are otherwise.
std::vector<double> meaning_of(std::span<const float> outputs, const model::HeadConfig& head);

struct AnswerRow {
  UnixNanos available_at =
      kNullTime;  ///< when the bar was over: the earliest moment this answer can exist
  UnixNanos bar_start = kNullTime;
  std::string_view symbol;
  Price close;
};

/// {"time":…,"bar_start":…,"symbol":…,"close":…,"p_down":…,"p_flat":…,"p_up":…,"prediction":"up"};
/// "value" or "q0.1", … for the other heads. `meaning` as of meaning_of(). One line, no newline.
std::string answer_line(const AnswerRow& row, std::span<const double> meaning,
                        const model::HeadConfig& head);

}  // namespace foxhunt::bundle
