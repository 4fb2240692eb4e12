#include "foxhunt/train/prune_search.h"

#include <cmath>

namespace foxhunt::train {

const PruneTrial* PruneSearch::best() const {
  const PruneTrial* best = nullptr;
  for (const PruneTrial& trial : trials) {
    if (std::isfinite(trial.loss) && (best == nullptr || trial.loss < best->loss)) best = &trial;
  }
  return best;
}

PruneSearch smallest_state(std::int64_t d_state, double limit,
                           const std::function<double(std::int64_t)>& loss) {
  PruneSearch search;
  for (std::int64_t n = 1; n < d_state && !search.d_state; ++n) {
    search.trials.push_back({n, loss(n)});
    if (std::isfinite(search.trials.back().loss) && search.trials.back().loss <= limit)
      search.d_state = n;
  }
  return search;
}

}  // namespace foxhunt::train
