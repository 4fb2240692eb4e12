#pragma once
// The forms in which a layer's projections can be served. State, sums and everything small stay
// float32.

#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::bundle {

enum class WeightForm : std::uint8_t {
  kF32,   ///< as trained
  kF16,   ///< weights rounded to IEEE half
  kBF16,  ///< weights and inputs rounded to bfloat16, sums in float32
  kI8,    ///< weights to 8 bits by output row, inputs by vector; exact integer sums
};

/// "fp32", "fp16", "bf16", "int8".
std::string_view to_string(WeightForm form);
/// Errors  UsageError naming the choices.
WeightForm weight_form_of(std::string_view name);

}  // namespace foxhunt::bundle
