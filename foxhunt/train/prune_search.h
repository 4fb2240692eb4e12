#pragma once
// The smallest state whose loss stays within a bound. Torch-free.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace foxhunt::train {

struct PruneTrial {
  std::int64_t d_state = 0;
  double loss = 0;
};

struct PruneSearch {
  std::vector<PruneTrial> trials;       ///< in the order they were made
  std::optional<std::int64_t> d_state;  ///< none fits: no value

  /// The smaller state with the lowest finite loss; nullptr where there is none.
  const PruneTrial* best() const;
};

/// Tries 1, 2, ... below `d_state` and stops at the first with loss(d_state) <= limit. Upwards and
/// not by halving, since a loss need not fall with the size of the state; the small sizes are the
/// cheap ones. A loss that is not finite never fits.
PruneSearch smallest_state(std::int64_t d_state, double limit,
                           const std::function<double(std::int64_t)>& loss);

}  // namespace foxhunt::train
