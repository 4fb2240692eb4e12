#pragma once
// The proof in a bundle: how far the engine's answers are from the trained model's over real rows,
// and the bound that they had to meet. Without it no bundle is written.

#include <cstdint>
#include <string>

#include "foxhunt/bundle/weight_form.h"

namespace foxhunt::bundle {

/// Differences are relative to the largest output of the trained model over the same rows.
struct ParityBound {
  double difference = 0;  ///< largest difference of any output
  double flip_rate = 0;   ///< decisions that changed, of all rows
};
/// The bound that goes with a form: see the .cpp for the reason of each number.
ParityBound bound_of(WeightForm form);

/// A decision is the largest class; the sign of a value or of the middle quantile.
struct Parity {
  std::int64_t rows = 0;          ///< answers compared
  std::int64_t warm_up_rows = 0;  ///< records without an answer
  std::int64_t sequences = 0;     ///< restarts of the state
  double largest_output = 0;      ///< of the trained model
  double max_difference = 0;      ///< relative
  double mean_difference = 0;     ///< relative
  std::int64_t decision_flips = 0;

  /// False without a row to compare, and for a difference that is no number.
  bool meets(const ParityBound& bound) const;
};

struct Certificate {
  Parity parity{};
  ParityBound bound{};
  std::string kernels{};    ///< table and product kernels of the engine that was compared
  std::string reference{};  ///< "LibTorch 2.11.0, cpu, float32"
  std::string cpu{};        ///< model name of the machine
  std::string data{};       ///< which rows: files' names and the interval

  std::string to_json() const;
  /// Errors  FormatError naming `origin`, the field and the rule.
  static Certificate from_json(const std::string& text, const std::string& origin);
};

}  // namespace foxhunt::bundle
