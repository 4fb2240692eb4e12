// The columns that a book feature config asks for, and what such a config must fulfil.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/book/book_rows_impl.h"

namespace foxhunt::features {

Schema make_book_schema(const BookFeatureConfig& config) {
  Schema schema;
  const auto add = [&schema](std::string name, std::string unit, std::int64_t warm_up,
                             std::string help) {
    schema.columns.push_back({std::move(name), std::move(unit), warm_up, std::move(help)});
  };
  add("spread", "ticks", 1, "best ask less best bid");
  add("micro_minus_mid", "ticks", 1, "mid weighted by the sizes of the other side, less the mid");
  for (const std::int64_t levels : config.levels) {
    add(fmt::format("imbalance_{}", levels), "-1 asks to 1 bids", 1,
        fmt::format("bids less asks over their sum, {} levels", levels));
  }
  add("since_last", "ln of microseconds", 2, "ln(1 + time since the event before)");
  for (const std::int64_t span : config.spans) {
    const std::int64_t warm_up = span + 1;  // views: an event is the step from one to the next
    const std::string over = fmt::format("the last {} events", span);
    for (const std::int64_t levels : config.levels) {
      add(fmt::format("ofi_{}_{}", levels, span), fmt::format("mean depths of {} levels", levels),
          warm_up, fmt::format("order-flow imbalance of {} levels over {}", levels, over));
    }
    add(fmt::format("flow_{}", span), "-1 sold to 1 bought", warm_up,
        "signed over all traded size, " + over);
    add(fmt::format("volume_{}", span), "ln of size", warm_up, "ln(1 + traded size), " + over);
    add(fmt::format("adds_{}", span), "per event", warm_up, "new orders, " + over);
    add(fmt::format("cancels_{}", span), "per event", warm_up,
        "cancellations in events without a fill, " + over);
    add(fmt::format("depleted_bid_{}", span), "mean queues", warm_up,
        "size that left the best bid, " + over);
    add(fmt::format("depleted_ask_{}", span), "mean queues", warm_up,
        "size that left the best ask, " + over);
    add(fmt::format("vol_{}", span), "ticks per event", warm_up,
        "root of the mean squared move of the mid, " + over);
    add(fmt::format("time_{}", span), "ln of microseconds", warm_up, "ln(1 + time), " + over);
  }
  return schema;
}

void require_usable(BookFeatureConfig config, Price tick) {
  std::vector<std::string> errors = config::range_errors(config::fields_of(config));
  const auto require_increasing = [&errors](const char* name,
                                            const std::vector<std::int64_t>& values) {
    if (values.empty()) errors.push_back(fmt::format("{} is empty", name));
    if (std::ranges::adjacent_find(values, std::greater_equal{}) == values.end()) return;
    errors.push_back(fmt::format("{} = [{}], but each must be larger than the one before", name,
                                 fmt::join(values, ", ")));
  };
  require_increasing("levels", config.levels);
  require_increasing("spans", config.spans);
  if (!config.levels.empty() && config.levels.front() != 1) {
    errors.push_back(fmt::format("levels begins with {}, but must with 1", config.levels.front()));
  }
  if (tick.is_null() || tick.nano <= 0) errors.emplace_back("the contract has no tick size");
  if (!errors.empty()) {
    throw ConfigError(fmt::format("[book_features] {}", fmt::join(errors, "\n[book_features] ")));
  }
}

}  // namespace foxhunt::features
