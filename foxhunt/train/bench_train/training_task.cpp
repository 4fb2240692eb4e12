#include "foxhunt/train/bench_train/training_task.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "foxhunt/base/error.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"

namespace foxhunt::train {
namespace {

/// Digits in front of `unit`; 0 where the text is something else.
std::int64_t number_before(std::string_view text, std::string_view unit) {
  if (text.size() <= unit.size() || text.substr(text.size() - unit.size()) != unit) return 0;
  const std::string_view digits = text.substr(0, text.size() - unit.size());
  std::int64_t value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return code == std::errc() && end == digits.data() + digits.size() ? value : 0;
}

/// The stretches of trading of a session: its halt cuts it in two.
std::vector<std::chrono::nanoseconds> stretches(const market::Session& session) {
  if (is_null(session.halt_start)) return {session.close - session.open};
  return {session.halt_start - session.open, session.close - session.halt_end};
}

}  // namespace

std::int64_t parse_bar(std::string_view text) {
  std::int64_t seconds = 0;
  for (const auto& [unit, factor] :
       {std::pair<std::string_view, std::int64_t>{"s", 1}, {"m", 60}, {"h", 3600}, {"", 1}}) {
    if (seconds == 0) seconds = number_before(text, unit) * factor;
  }
  if (seconds >= 1 && seconds <= 86400) return seconds;
  throw UsageError(
      fmt::format("[bench] '{}' is no bar size of 1s to 24h; write 1m, 30s or 1h", text));
}

std::vector<std::string> parse_symbols(std::string_view text) {
  const std::vector<std::string> known = market::Calendar::products();
  std::vector<std::string> order = TrainingTask{}.symbols;
  for (const std::string& product : known) {
    if (std::find(order.begin(), order.end(), product) == order.end()) order.push_back(product);
  }
  if (const std::int64_t wanted = number_before(text, ""); wanted > 0) {
    if (wanted > static_cast<std::int64_t>(order.size())) {
      throw UsageError(
          fmt::format("[bench] {} symbols, but the calendar knows {}", wanted, order.size()));
    }
    order.resize(static_cast<std::size_t>(wanted));
    return order;
  }
  std::vector<std::string> symbols;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t comma = std::min(text.find(',', from), text.size());
    symbols.emplace_back(text.substr(from, comma - from));
    from = comma + 1;
    if (std::find(known.begin(), known.end(), symbols.back()) == known.end()) {
      throw UsageError(fmt::format("[bench] no calendar for '{}'; choose from {}", symbols.back(),
                                   fmt::join(known, ", ")));
    }
  }
  return symbols;
}

std::int64_t windows_of(std::int64_t first, std::int64_t end, const WindowConfig& windows) {
  if (end <= first) return 0;
  const std::int64_t step = std::max<std::int64_t>(windows.step(), 1);
  // Windows begin every `step` rows until one covers the last label; those that end before the
  // first label are dropped.
  const auto ending_by = [&](std::int64_t row) {
    return row < windows.length ? 0 : 1 + (row - windows.length) / step;
  };
  const std::int64_t rest = std::max<std::int64_t>(end - windows.length, 0);
  return 1 + (rest + step - 1) / step - ending_by(first);
}

std::vector<SymbolWork> work_of(const TrainingTask& task, const ExperimentConfig& config) {
  features::FeatureConfig features = config.features;
  features.bar_seconds = task.bar_seconds;
  const std::chrono::sys_days first{task.from};
  std::vector<SymbolWork> all;
  for (const std::string& symbol : task.symbols) {
    const market::Calendar calendar = market::Calendar::for_product(symbol);
    const std::chrono::sys_days last = first + std::chrono::days(task.days);
    if (first < std::chrono::sys_days{calendar.holidays_from()} ||
        last > std::chrono::sys_days{calendar.holidays_until()}) {
      throw UsageError(
          fmt::format("[bench] {} days from {} reach beyond the holidays that are known, {} to {}",
                      task.days, to_string(task.from), to_string(calendar.holidays_from()),
                      to_string(calendar.holidays_until())));
    }
    const std::int64_t warm_up =
        features::FeaturePipeline(features, calendar, market::contract_for_product(symbol))
            .schema()
            .warm_up();
    const bundle::LabelConfig& label = config.label;
    const std::int64_t first_label =
        label.uses_volatility() ? std::max<std::int64_t>(label.volatility_span - (warm_up - 1), 0)
                                : 0;
    SymbolWork work{.symbol = symbol};
    for (const market::Session& session :
         calendar.sessions_between(UnixNanos{first}, UnixNanos{last})) {
      if (session.open < UnixNanos{first}) continue;
      ++work.sessions;
      for (const std::chrono::nanoseconds stretch : stretches(session)) {
        const std::int64_t bars = stretch / std::chrono::seconds(task.bar_seconds);
        const std::int64_t rows = std::max<std::int64_t>(bars - (warm_up - 1), 0);
        work.bars += bars;
        work.rows += rows;
        work.windows += windows_of(first_label, rows - label.horizon, config.windows);
      }
    }
    all.push_back(work);
  }
  return all;
}

std::int64_t steps_of(const TrainingTask& task, const std::vector<SymbolWork>& work,
                      std::int64_t batch) {
  std::int64_t steps = 0;
  for (const SymbolWork& symbol : work) steps += (symbol.windows + batch - 1) / batch;
  return steps * task.epochs;
}

Figure hours_of(std::int64_t steps, const Figure& step_seconds) {
  const double factor = static_cast<double>(steps) / 3600.0;
  return {step_seconds.value * factor, step_seconds.low * factor, step_seconds.high * factor,
          step_seconds.level};
}

}  // namespace foxhunt::train
