#include "foxhunt/bundle/weight_form.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "foxhunt/base/error.h"

namespace foxhunt::bundle {
namespace {

constexpr std::array<std::string_view, 4> kNames{"fp32", "fp16", "bf16", "int8"};  // as WeightForm

}  // namespace

std::string_view to_string(WeightForm form) { return kNames.at(static_cast<std::size_t>(form)); }

WeightForm weight_form_of(std::string_view name) {
  const auto* const found = std::find(kNames.begin(), kNames.end(), name);
  if (found == kNames.end()) {
    throw UsageError(fmt::format("weights '{}': there are {}", name, fmt::join(kNames, ", ")));
  }
  return static_cast<WeightForm>(found - kNames.begin());
}

}  // namespace foxhunt::bundle
