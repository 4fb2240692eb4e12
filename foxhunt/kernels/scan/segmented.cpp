#include "foxhunt/kernels/scan/segmented.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"

namespace foxhunt::kernels {

void check_resets(std::int64_t values, std::int64_t resets) {
  if (values != resets) {
    throw ShapeError(
        fmt::format("[scan] resets has {} flags, but there are {} values", resets, values));
  }
}

std::vector<std::uint8_t> resets_from_ids(std::span<const std::int64_t> ids,
                                          std::int64_t id_before) {
  std::vector<std::uint8_t> resets(ids.size());
  for (std::size_t t = 0; t < ids.size(); ++t) {
    resets[t] = ids[t] != (t == 0 ? id_before : ids[t - 1]) ? 1 : 0;
  }
  return resets;
}

std::vector<std::uint8_t> resets_from_ids(std::span<const std::int64_t> ids) {
  std::vector<std::uint8_t> resets(ids.size());
  if (ids.empty()) return resets;
  resets = resets_from_ids(ids, ids.front());
  resets.front() = 1;
  return resets;
}

}  // namespace foxhunt::kernels
