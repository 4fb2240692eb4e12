#include "foxhunt/ranks/ranks.h"

#include <fmt/format.h>

namespace foxhunt::ranks {

std::string Ranks::from_first(std::string_view mine) {
  return gather(rank() == 0 ? mine : std::string_view())[0];
}

void Ranks::require_equal(std::string_view what, std::string_view mine, std::string_view rule) {
  const std::vector<std::string> all = gather(mine);
  for (std::size_t r = 1; r < all.size(); ++r) {
    if (all[r] == all[0]) continue;
    throw ConfigError(fmt::format("[ranks] rank {} has another {} than rank 0 ({} and {}); {}", r,
                                  what, all[r], all[0], rule));
  }
}

}  // namespace foxhunt::ranks
