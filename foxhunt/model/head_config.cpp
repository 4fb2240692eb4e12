#include "foxhunt/model/head_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::model {

std::vector<std::string> HeadConfig::errors() const {
  HeadConfig copy = *this;
  std::vector<std::string> errors = config::range_errors(config::fields_of(copy));
  if (kind != HeadKind::kQuantiles) return errors;
  if (quantiles.empty())
    errors.emplace_back("quantiles is empty, but a quantile head needs one or more");
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    const double q = quantiles[i];
    if (q == 0.0 || q == 1.0)
      errors.push_back(fmt::format("quantiles has {}, but must lie inside (0, 1)", q));
    if (i > 0 && !(quantiles[i - 1] < q)) {
      errors.push_back(fmt::format("quantiles must rise, but {} follows {}", q, quantiles[i - 1]));
    }
  }
  return errors;
}

void HeadConfig::validate() const {
  const std::vector<std::string> all = errors();
  if (!all.empty()) throw ConfigError(fmt::format("[head] {}", fmt::join(all, "\n[head] ")));
}

}  // namespace foxhunt::model
