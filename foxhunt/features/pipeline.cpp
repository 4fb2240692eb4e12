#include "foxhunt/features/pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/features/columns.h"
#include "foxhunt/features/pipeline_impl.h"

namespace foxhunt::features {
namespace {

using market::Bar;
using market::Session;

constexpr double kBasisPoint = 1e-4;

double minutes(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::ratio<60>>(time).count();
}

bool is_same_bar(const Bar& a, const Bar& b) {
  return a.instrument == b.instrument && a.open == b.open && a.high == b.high && a.low == b.low &&
         a.close == b.close && a.volume == b.volume;
}

bool overlaps_halt(const Bar& bar, const Session& session) {
  return bar.start < session.halt_end && bar.end() > session.halt_start;
}

std::size_t longest_return(const FeatureConfig& config) {
  return config.return_spans.empty() ? 0 : static_cast<std::size_t>(config.return_spans.back());
}

}  // namespace

PipelineMemory::PipelineMemory(const FeatureConfig& config, Price tick, const UserColumns& columns)
    : closes(longest_return(config) + 1),
      log_volume(config.volume_span),
      user(columns.new_memory()) {
  volatilities.reserve(config.volatility_spans.size());
  for (const std::int64_t span : config.volatility_spans) volatilities.emplace_back(span, tick);
}

void PipelineMemory::forget() noexcept {
  bars = 0;
  for (RealisedVolatility& volatility : volatilities) volatility.clear();
  log_volume.clear();
  user.forget();
}

void PipelineMemory::reset() noexcept {
  forget();
  last.reset();
  session = {};
  counters = {};
  user.reset();
}

FeaturePipeline::Impl::Impl(FeatureConfig c, market::Calendar cal, market::Contract con)
    : config(std::move(c)),
      calendar(std::move(cal)),
      contract(std::move(con)),
      user(config.plugins),
      schema(make_schema(config, user.columns())),
      warm_up(schema.warm_up()),
      memory(config, contract.tick, user),
      sigmas(config.volatility_spans.size()),
      user_values(user.width()) {}

BarFault FeaturePipeline::Impl::fault_of(const Bar& bar) const noexcept {
  const Price prices[] = {bar.open, bar.high, bar.low, bar.close};
  const auto is_null = [](Price p) { return p.is_null(); };
  const auto is_non_positive = [](Price p) { return p.nano <= 0; };
  if (bar.span != std::chrono::seconds{config.bar_seconds}) return &PushCounters::other_length;
  if (foxhunt::is_null(bar.start) || bar.start > UnixNanos::max() - bar.span ||
      std::ranges::any_of(prices, is_null) ||
      bar.volume == std::numeric_limits<std::uint64_t>::max()) {
    return &PushCounters::null_value;
  }
  if (std::ranges::any_of(prices, is_non_positive)) return &PushCounters::non_positive_price;
  if (bar.low > std::min(bar.open, bar.close) || bar.high < std::max(bar.open, bar.close)) {
    return &PushCounters::inconsistent_ohlc;
  }
  return nullptr;
}

std::optional<Session> FeaturePipeline::Impl::session_of(const Bar& bar) const noexcept {
  std::optional<Session> found = calendar.session_at(bar.start);
  if (found && (bar.end() > found->close || overlaps_halt(bar, *found))) found.reset();
  return found;
}

void PipelineMemory::take(const Bar& bar) noexcept {
  if (bars > 0) {
    const double move = log_return(last->close, bar.close);
    for (RealisedVolatility& volatility : volatilities) volatility.push(move);
  }
  closes[static_cast<std::size_t>(bars) % closes.size()] = bar.close;
  ++bars;
  const double volume = std::log1p(static_cast<double>(bar.volume));
  // Its own past: the bar itself enters the mean only afterwards.
  volume_ratio = log_volume.full() ? volume - log_volume.mean() : 0.0;
  log_volume.push(volume);
  last = bar;
}

bool FeaturePipeline::Impl::is_in_order(const Bar& bar) noexcept {
  const std::optional<Bar>& last = memory.last;
  if (!last || bar.start >= last->end()) return true;
  if (bar.start != last->start || bar.instrument != last->instrument) {
    ++memory.counters.out_of_order;
  } else if (is_same_bar(bar, *last)) {
    ++memory.counters.duplicates;
  } else {
    ++memory.counters.conflicts;
  }
  return false;
}

bool FeaturePipeline::Impl::starts_sequence(const Bar& bar, const Session& found) noexcept {
  const std::optional<Bar>& last = memory.last;
  PushCounters& counters = memory.counters;
  if (!last || found.open != memory.session.open) {
    ++counters.new_session;
  } else if (bar.instrument != last->instrument) {
    ++counters.new_contract;
  } else if (last->start < found.halt_end && bar.start >= found.halt_end) {
    ++counters.after_halt;
  } else if (bar.start - last->end() > std::chrono::minutes{config.max_gap_minutes}) {
    ++counters.long_gap;
  } else {
    return false;
  }
  ++counters.sequences;
  return true;
}

void FeaturePipeline::Impl::write(const Bar& bar, std::span<float> row) noexcept {
  std::size_t at = 0;
  const auto put = [&](double value) { row[at++] = static_cast<float>(value); };
  for (std::size_t i = 0; i < sigmas.size(); ++i) {
    sigmas[i] = memory.volatilities[i].value(bar.close);
  }
  const double sigma = sigmas.back();

  for (const std::int64_t span : config.return_spans) {
    put(log_return(memory.close(span), bar.close) / (sigma * std::sqrt(static_cast<double>(span))));
  }
  put(log_return(bar.low, bar.high) / sigma);
  const std::int64_t height = bar.high.nano - bar.low.nano;
  const std::int64_t twice_off = (bar.close.nano - bar.low.nano) - (bar.high.nano - bar.close.nano);
  put(height == 0 ? 0.0 : static_cast<double>(twice_off) / static_cast<double>(height));
  put(memory.volume_ratio);
  for (const double level : sigmas) put(std::log(level / kBasisPoint));
  for (std::size_t i = 0; i + 1 < sigmas.size(); ++i) put(std::log(sigmas[i] / sigmas[i + 1]));

  const double since_open = minutes(bar.end() - memory.session.open);
  const double angle = 2.0 * std::numbers::pi * since_open / (24.0 * 60.0);
  put(since_open);
  put(minutes(memory.session.close - bar.end()));
  put(std::sin(angle));
  put(std::cos(angle));
}

bool FeaturePipeline::Impl::users_are_finite() noexcept {
  bool all = true;
  for (std::size_t c = 0; c < user_values.size(); ++c) {
    if (std::isfinite(user_values[c])) continue;
    ++memory.user.not_finite[c];
    all = false;
  }
  return all;
}

PushResult FeaturePipeline::Impl::push(const Bar& bar, std::span<float> row) noexcept {
  PushCounters& counters = memory.counters;
  ++counters.bars;
  if (const BarFault fault = fault_of(bar)) {
    ++(counters.*fault);
    return {.status = Status::kBadBar};
  }
  const std::optional<Session> found = session_of(bar);
  if (!found) {
    ++counters.closed;
    return {.status = Status::kClosed};
  }
  if (!is_in_order(bar)) return {.status = Status::kOutOfOrder};
  const bool starts = starts_sequence(bar, *found);
  if (starts) memory.forget();
  memory.session = *found;
  memory.take(bar);
  user.push(bar, memory.session, contract.tick, memory.user, user_values);
  if (memory.bars < warm_up) {
    ++counters.warming_up;
    return {.status = Status::kWarmingUp, .starts_sequence = starts};
  }
  if (!users_are_finite()) {
    ++counters.not_finite;
    return {.status = Status::kNotFinite, .starts_sequence = starts};
  }
  ++counters.ready;
  write(bar, row);
  std::ranges::copy(user_values, row.end() - std::ssize(user_values));
  return {.status = Status::kReady, .starts_sequence = starts};
}

std::string PushCounters::summary() const {
  std::vector<std::string> ignored;
  const auto add = [&ignored](std::int64_t count, const char* what) {
    if (count > 0) ignored.push_back(fmt::format("{} {}", count, what));
  };
  add(closed, "outside of sessions");
  add(null_value, "with undefined values");
  add(non_positive_price, "with a price that is not positive");
  add(inconsistent_ohlc, "with inconsistent OHLC");
  add(other_length, "of another length");
  add(duplicates, "duplicates");
  add(conflicts, "with the time of the bar before but other content");
  add(out_of_order, "out of order");
  std::string text =
      fmt::format("{} {}: {} ready, {} warming up in {} sequences", bars,
                  unsampled() > 0 ? "order events" : "bars", ready, warming_up, sequences);
  if (not_finite > 0) text += fmt::format(", {} with a value that is not finite", not_finite);
  if (!ignored.empty()) text += fmt::format("; ignored: {}", fmt::join(ignored, ", "));
  return text;
}

FeaturePipeline::FeaturePipeline(FeatureConfig config, market::Calendar calendar,
                                 market::Contract contract) {
  require_usable(config, contract);
  impl_ = std::make_unique<Impl>(std::move(config), std::move(calendar), std::move(contract));
}
FeaturePipeline::~FeaturePipeline() = default;
FeaturePipeline::FeaturePipeline(const FeaturePipeline& other)
    : impl_(std::make_unique<Impl>(*other.impl_)) {}
FeaturePipeline& FeaturePipeline::operator=(const FeaturePipeline& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
FeaturePipeline::FeaturePipeline(FeaturePipeline&&) noexcept = default;
FeaturePipeline& FeaturePipeline::operator=(FeaturePipeline&&) noexcept = default;

const Schema& FeaturePipeline::schema() const noexcept { return impl_->schema; }
std::int64_t FeaturePipeline::width() const noexcept {
  return static_cast<std::int64_t>(impl_->schema.columns.size());
}
const FeatureConfig& FeaturePipeline::config() const noexcept { return impl_->config; }

PushResult FeaturePipeline::push(const market::Bar& bar, std::span<float> row) {
  if (row.size() != impl_->schema.columns.size()) {
    throw ShapeError(
        fmt::format("[pipeline] the row has room for {} values, but there are {} columns",
                    row.size(), impl_->schema.columns.size()));
  }
  return impl_->push(bar, row);
}

PushResult FeaturePipeline::push_unchecked(const market::Bar& bar, std::span<float> row) noexcept {
  assert(row.size() == impl_->schema.columns.size());
  return impl_->push(bar, row);
}

const market::Session& FeaturePipeline::session() const noexcept { return impl_->memory.session; }
const PushCounters& FeaturePipeline::counters() const noexcept { return impl_->memory.counters; }
void FeaturePipeline::reset() noexcept { impl_->memory.reset(); }
void FeaturePipeline::load_libraries_anew() { impl_->user.load_anew(); }

std::span<const std::int64_t> FeaturePipeline::not_finite() const noexcept {
  return impl_->memory.user.not_finite;
}

std::string FeaturePipeline::summary() const {
  std::vector<std::string> spoiled;
  const std::span<const std::int64_t> counts = not_finite();
  const std::size_t own = impl_->schema.columns.size() - counts.size();
  for (std::size_t c = 0; c < counts.size(); ++c) {
    if (counts[c] > 0)
      spoiled.push_back(fmt::format("{} {}", impl_->schema.columns[own + c].name, counts[c]));
  }
  const std::string text = counters().summary();
  return spoiled.empty() ? text : fmt::format("{}; not finite: {}", text, fmt::join(spoiled, ", "));
}

}  // namespace foxhunt::features
