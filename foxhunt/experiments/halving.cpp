#include "foxhunt/experiments/halving.h"

#include <algorithm>

namespace foxhunt::experiments {

std::vector<std::int64_t> rungs(std::int64_t min_epochs, std::int64_t eta,
                                std::int64_t max_epochs) {
  std::vector<std::int64_t> ends;
  for (std::int64_t epochs = min_epochs; epochs < max_epochs; epochs *= eta) {
    ends.push_back(epochs);
    if (epochs > max_epochs / eta) break;  // the next one would pass the end, or every integer
  }
  ends.push_back(max_epochs);
  return ends;
}

std::vector<std::size_t> survivors(const std::vector<std::size_t>& entered,
                                   const std::vector<std::optional<double>>& losses,
                                   std::int64_t eta) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < entered.size(); ++i) {
    if (losses[i]) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    return *losses[a] < *losses[b] || (*losses[a] == *losses[b] && entered[a] < entered[b]);
  });
  const std::size_t keep = std::max<std::size_t>(1, entered.size() / static_cast<std::size_t>(eta));
  order.resize(std::min(order.size(), keep));
  std::vector<std::size_t> on;
  for (const std::size_t i : order) on.push_back(entered[i]);
  std::ranges::sort(on);
  return on;
}

}  // namespace foxhunt::experiments
