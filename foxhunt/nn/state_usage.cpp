#include "foxhunt/nn/state_usage.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {
namespace {

std::vector<std::int64_t> best_of(const std::vector<ColumnUsage>& columns, std::int64_t d_state) {
  const auto size = static_cast<std::int64_t>(columns.size());
  if (d_state < 1 || d_state > size) {
    throw ShapeError(
        fmt::format("[state_usage] {} columns asked for, but there are {}", d_state, size));
  }
  std::vector<std::int64_t> order(columns.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int64_t a, std::int64_t b) {
    const ColumnUsage& left = columns[static_cast<std::size_t>(a)];
    const ColumnUsage& right = columns[static_cast<std::size_t>(b)];
    return std::tuple(-left.importance, -left.contribution, a) <
           std::tuple(-right.importance, -right.contribution, b);
  });
  order.resize(static_cast<std::size_t>(d_state));
  std::sort(order.begin(), order.end());
  return order;
}

}  // namespace

ColumnChoice most_important(const StateUsage& usage, std::int64_t d_state) {
  ColumnChoice choice;
  for (const LayerUsage& layer : usage.layers) {
    auto& groups = choice.emplace_back();
    for (const std::vector<ColumnUsage>& columns : layer.columns)
      groups.push_back(best_of(columns, d_state));
  }
  return choice;
}

}  // namespace foxhunt::nn
