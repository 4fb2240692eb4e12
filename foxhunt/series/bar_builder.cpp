#include "foxhunt/series/bar_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "foxhunt/base/error.h"

namespace foxhunt::series {
namespace {

__extension__ using Wide = __int128;

constexpr std::int64_t kMostSize = 1'000'000'000'000;

UnixNanos grid_start(UnixNanos t, std::chrono::nanoseconds span) {
  const auto since = t.time_since_epoch();
  auto rest = since % span;
  if (rest.count() < 0) rest += span;
  return UnixNanos{since - rest};
}

}  // namespace

BarBuilder::BarBuilder(const BarConfig& config, const market::Contract& contract,
                       market::Calendar calendar)
    : config_(config),
      contract_(contract),
      calendar_(std::move(calendar)),
      rule_(std::max<std::int64_t>(config.size, 1),
            std::max<std::int64_t>(config.expectation_bars, 1)) {
  if (config.kind != BarKind::kSession && (config.size < 1 || config.size > kMostSize)) {
    throw ConfigError(
        fmt::format("[bars] size {} is out of range; 1 to {}", config.size, kMostSize));
  }
  if (config.kind == BarKind::kTime && config.size > 86'400) {
    throw ConfigError(fmt::format(
        "[bars] time bars of {} s; 1 s to 86400 s, as no bar leaves its session", config.size));
  }
  if (config.expectation_bars < 1 || config.expectation_bars > 10'000) {
    throw ConfigError(fmt::format("[bars] expectation over {} bars is out of range; 1 to 10000",
                                  config.expectation_bars));
  }
}

std::span<const EventBar> BarBuilder::push(const Tick& tick) {
  n_out_ = 0;
  ++counters_.ticks;
  UnixNanos t = config_.clock == Clock::kEvent ? tick.ts_event : tick.ts_recv;
  if (tick.price.is_null() || is_null(t)) {
    ++counters_.without_price;
    return {};
  }
  if (!is_null(latest_) && t < latest_) {
    ++counters_.late;
    t = latest_;
  }
  if (!segment_.holds(t)) {
    const Segment next = segment_at(t);
    if (is_null(next.begin)) {
      ++counters_.outside_session;
      counters_.outside_volume += tick.size;
      return {};
    }
    if (open_) by_clock() ? close_whole() : close_cut();
    segment_ = next;
  }
  latest_ = t;
  if (open_ && config_.kind == BarKind::kTime && t >= bar_.end) close_whole();
  if (!open_) open_bar(t, tick);
  add(t, tick);
  if (whole()) close_whole();
  return {out_.data(), n_out_};
}

std::span<const EventBar> BarBuilder::finish(UnixNanos known_until) {
  n_out_ = 0;
  if (open_) by_clock() && bar_.end <= known_until ? close_whole() : close_cut();
  segment_ = {};
  latest_ = kNullTime;
  sign_price_ = Price::null();
  last_sign_ = 0;
  return {out_.data(), n_out_};
}

BarBuilder::Segment BarBuilder::segment_at(UnixNanos t) const {
  const auto session = calendar_.session_at(t);
  if (!session || session->halted_at(t)) return {};
  Segment segment{.begin = session->open, .end = session->close};
  if (is_null(session->halt_start)) return segment;
  if (config_.kind == BarKind::kSession) {
    segment.halt_start = session->halt_start;
    segment.halt_end = session->halt_end;
    return segment;
  }
  if (t < session->halt_start) {
    segment.end = session->halt_start;
  } else {
    segment.begin = session->halt_end;
  }
  return segment;
}

void BarBuilder::open_bar(UnixNanos t, const Tick& tick) {
  bar_ = {.start = t, .end = t, .open = tick.price, .high = tick.price, .low = tick.price};
  if (config_.kind == BarKind::kSession) {
    bar_.start = segment_.begin;
    bar_.end = segment_.end;
  } else if (config_.kind == BarKind::kTime) {
    const std::chrono::seconds span{config_.size};
    const UnixNanos start = grid_start(t, span);
    bar_.start = std::max(start, segment_.begin);
    bar_.end = std::min<UnixNanos>(start + span, segment_.end);
  }
  bar_.available_at = by_clock() ? bar_.end : tick.ts_recv;
  value_ = 0;
  open_ = true;
  if (config_.kind == BarKind::kImbalance) rule_.bar_opens();
}

void BarBuilder::add(UnixNanos t, const Tick& tick) {
  bar_.high = std::max(bar_.high, tick.price);
  bar_.low = std::min(bar_.low, tick.price);
  bar_.close = tick.price;
  bar_.volume += tick.size;
  ++bar_.ticks;
  if (tick.aggressor == market::Side::kBid) bar_.buy_volume += tick.size;
  if (tick.aggressor == market::Side::kAsk) bar_.sell_volume += tick.size;
  const Wide price = tick.price.nano;
  value_ += (price < 0 ? -price : price) * tick.size;
  if (!by_clock()) bar_.end = t;
  // A record that lacks its time of receipt was there by the time of its event at the earliest.
  const UnixNanos known = is_null(tick.ts_recv) ? t : std::max(tick.ts_recv, t);
  bar_.available_at = std::max(bar_.available_at, known);
  if (config_.kind != BarKind::kImbalance) return;
  const std::int64_t b = signed_of(tick);
  bar_.imbalance += b;
  rule_.push(b);
}

std::int64_t BarBuilder::signed_of(const Tick& tick) {
  if (!sign_price_.is_null() && tick.price != sign_price_)
    last_sign_ = tick.price > sign_price_ ? 1 : -1;
  sign_price_ = tick.price;
  std::int64_t sign = last_sign_;
  if (config_.sign == SignRule::kAggressor && tick.aggressor != market::Side::kNone)
    sign = tick.aggressor == market::Side::kBid ? 1 : -1;
  return config_.imbalance_of == ImbalanceOf::kTicks ? sign : sign * std::int64_t{tick.size};
}

bool BarBuilder::whole() const {
  const auto size = static_cast<std::uint64_t>(config_.size);
  switch (config_.kind) {
    case BarKind::kTime:
    case BarKind::kSession:
      return false;  // the clock ends them
    case BarKind::kTick:
      return bar_.ticks >= size;
    case BarKind::kVolume:
      return bar_.volume >= size;
    case BarKind::kDollar:
      return static_cast<long double>(value_) * static_cast<long double>(contract_.multiplier) >=
             static_cast<long double>(config_.size) * Price::kUnitsPerOne;
    case BarKind::kRange:
      // In 128 bits: the span of two prices need not fit into 64.
      return Wide{bar_.high.nano} - bar_.low.nano >= Wide{contract_.tick.nano} * config_.size;
    case BarKind::kImbalance:
      if (config_.expectation == Expectation::kFixed)
        return std::abs(bar_.imbalance) >= config_.size;
      return rule_.ends(bar_.imbalance, bar_.ticks);
  }
  return false;
}

void BarBuilder::close_whole() {
  if (config_.kind == BarKind::kImbalance) rule_.bar_ended(bar_.ticks);
  emit();
}

void BarBuilder::close_cut() {
  ++counters_.cut_bars;
  bar_.cut = true;
  if (config_.cut == CutBars::kKeep) return emit();
  ++counters_.dropped_bars;
  counters_.dropped_ticks += static_cast<std::int64_t>(bar_.ticks);
  counters_.dropped_volume += bar_.volume;
  open_ = false;
}

void BarBuilder::emit() {
  bar_.value =
      static_cast<double>(value_) / static_cast<double>(Price::kUnitsPerOne) * contract_.multiplier;
  out_[n_out_++] = bar_;
  ++counters_.bars;
  open_ = false;
}

}  // namespace foxhunt::series
