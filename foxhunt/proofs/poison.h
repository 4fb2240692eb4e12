#pragma once
// Other futures behind a bar: each differs from the real one in its own way, and all agree with it
// up to the bar.

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/market/record.h"

namespace foxhunt::proofs {

enum class Poison : std::uint8_t {
  kValues,    ///< other prices and sizes at the same times
  kDeleted,   ///< nothing comes any more
  kThinned,   ///< half of the bars do not come
  kTimes,     ///< bars come later, with holes of minutes to hours
  kExtra,     ///< bars twice with other content, and more bars behind the last one
  kUnusable,  ///< null and negative prices, high below low, another length
  kContract,  ///< another contract from the next bar on
};
inline constexpr std::array kPoisons{Poison::kValues,  Poison::kDeleted, Poison::kThinned,
                                     Poison::kTimes,   Poison::kExtra,   Poison::kUnusable,
                                     Poison::kContract};
const char* name_of(Poison poison);

/// Bars [0, last] as they are, and another future behind them.
std::vector<market::Bar> with_other_future(std::span<const market::Bar> bars, std::size_t last,
                                           Poison poison, Rng& rng);

/// Other prices and sizes for the bars of [from, to): a walk of another level and step.
void change_values(std::span<market::Bar> bars, Rng& rng);

}  // namespace foxhunt::proofs
