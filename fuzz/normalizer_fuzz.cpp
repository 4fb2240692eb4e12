// Any text as a normaliser: a FormatError, or one whose text reads back to the same bytes and whose
// answers stay within its clip, whatever the row.
#include <cmath>
#include <limits>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/features/normalizer.h"

#include "fuzz/fuzz.h"

namespace features = foxhunt::features;
namespace fuzz = foxhunt::fuzz;

namespace {

void require_answers_within_clip(const features::Normalizer& normalizer) {
  const auto width = static_cast<std::size_t>(normalizer.width());
  constexpr float kMax = std::numeric_limits<float>::max();
  constexpr float kInf = std::numeric_limits<float>::infinity();
  for (const float value :
       {0.0F, -1.5F, kMax, -kMax, kInf, -kInf, std::numeric_limits<float>::quiet_NaN()}) {
    const std::vector<float> raw(width, value);
    std::vector<float> out(width);
    normalizer.apply(raw, out);
    for (const float answer : out) {
      fuzz::require(std::abs(answer) <= static_cast<float>(normalizer.clip()),
                    "an answer lies within the clip");
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fuzz::AllocationLimit limit((std::size_t{1} << 20) + 512 * size);
  try {
    const auto normalizer = features::Normalizer::from_json(fuzz::text_of(data, size));
    require_answers_within_clip(normalizer);
    const std::string written = normalizer.to_json();
    try {
      fuzz::require(features::Normalizer::from_json(written).to_json() == written,
                    "a normaliser reads back to the same");
    } catch (const foxhunt::FormatError&) {
      fuzz::require(false, "what is written can be read");
    }
  } catch (const foxhunt::FormatError&) {
  }
  return 0;
}
