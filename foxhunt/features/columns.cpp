#include "foxhunt/features/columns.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"

namespace foxhunt::features {

Schema make_schema(const FeatureConfig& config, const std::vector<Column>& user) {
  Schema schema;
  const auto add = [&schema](std::string name, std::string unit, std::int64_t warm_up,
                             std::string help) {
    schema.columns.push_back({std::move(name), std::move(unit), warm_up, std::move(help)});
  };
  const std::int64_t scale = config.volatility_spans.back();
  const std::string deviations = fmt::format("standard deviations of {} bars", scale);
  for (const std::int64_t span : config.return_spans) {
    add(fmt::format("ret_{}", span), deviations, std::max(span, scale) + 1,
        fmt::format("log return of the close over {} bars, over volatility and root of {}", span,
                    span));
  }
  add("range", deviations, scale + 1, "log of high over low, over volatility");
  add("close_location", "-1 low to 1 high", 1, "where in the bar's range it closed");
  add("volume", "ln ratio", config.volume_span + 1,
      fmt::format("ln(1 + volume) less its mean over the {} bars before", config.volume_span));
  const std::string points = fmt::format("ln of basis points per {} s", config.bar_seconds);
  for (const std::int64_t span : config.volatility_spans) {
    add(fmt::format("vol_{}", span), points, span + 1,
        fmt::format("realised volatility of the last {} one-bar log returns", span));
  }
  for (std::size_t i = 0; i + 1 < config.volatility_spans.size(); ++i) {
    const std::int64_t span = config.volatility_spans[i];
    const std::int64_t next = config.volatility_spans[i + 1];
    add(fmt::format("vol_{}_over_{}", span, next), "ln ratio", next + 1,
        "short over long realised volatility");
  }
  add("since_open", "minutes", 1, "from the session's open to the end of the bar");
  add("to_close", "minutes", 1, "from the end of the bar to the session's scheduled close");
  add("clock_sin", "sine of the day", 1, "sine of since_open as a part of 24 hours");
  add("clock_cos", "cosine of the day", 1, "cosine of since_open as a part of 24 hours");
  for (const Column& column : user) {
    const auto other = std::ranges::find(schema.columns, column.name, &Column::name);
    if (other != schema.columns.end()) {
      throw ConfigError(fmt::format(
          "[features] plugins: column '{}' of library '{}' is one of {}'s already", column.name,
          column.library.name, other->library ? other->library.name : "foxhunt"));
    }
    schema.columns.push_back(column);
  }
  return schema;
}

void require_usable(FeatureConfig config, const market::Contract& contract) {
  std::vector<std::string> errors = config::range_errors(config::fields_of(config));
  const auto require_increasing = [&errors](const char* name,
                                            const std::vector<std::int64_t>& spans) {
    if (std::ranges::adjacent_find(spans, std::greater_equal{}) == spans.end()) return;
    errors.push_back(fmt::format("{} = [{}], but each must be larger than the one before", name,
                                 fmt::join(spans, ", ")));
  };
  require_increasing("return_spans", config.return_spans);
  require_increasing("volatility_spans", config.volatility_spans);
  if (config.volatility_spans.empty()) {
    errors.emplace_back("volatility_spans is empty, but returns are scaled by the last of them");
  }
  if (contract.tick.is_null() || contract.tick.nano <= 0) {
    errors.push_back(fmt::format("contract '{}' has no tick size", contract.product));
  }
  if (!errors.empty()) {
    throw ConfigError(fmt::format("[features] {}", fmt::join(errors, "\n[features] ")));
  }
}

}  // namespace foxhunt::features
