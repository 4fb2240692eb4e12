#include "foxhunt/train/book_labels.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::train {

Labels make_mid_labels(const LabelBars& mids, std::int64_t steps, double dead_zone) {
  if (steps < 1 || !(dead_zone >= 0)) {
    throw ConfigError(
        fmt::format("[labels] {} steps ahead with a dead zone of {} ticks; at least 1 and 0", steps,
                    dead_zone));
  }
  const std::size_t n = mids.close.size();
  if (mids.available_at.size() != n) {
    throw ShapeError(fmt::format("[labels] {} mids, but {} times", n, mids.available_at.size()));
  }
  const auto k = static_cast<std::size_t>(steps);
  const auto tick = static_cast<double>(mids.tick.nano);
  Labels labels{.valid = std::vector<std::uint8_t>(n, 0),
                .classes = std::vector<std::int8_t>(n, kNoClass),
                .value = std::vector<float>(n, 0.0F),
                .end = std::vector<UnixNanos>(n, kNullTime),
                .persistence = std::vector<std::int8_t>(n, kNoClass)};
  for (std::size_t t = 0; t + k < n; ++t) {
    const Price from = mids.close[t], to = mids.close[t + k];
    if (from.is_null() || to.is_null()) continue;
    const double move = static_cast<double>(to.nano - from.nano) / tick;
    const std::int8_t cls = std::abs(move) <= dead_zone ? kFlat : move > 0 ? kUp : kDown;
    labels.valid[t] = 1;
    labels.classes[t] = cls;
    labels.value[t] = static_cast<float>(move);
    labels.end[t] = mids.available_at[t + k];
    labels.persistence[t + k] = cls;  // the same move, looked back on
  }
  return labels;
}

}  // namespace foxhunt::train
