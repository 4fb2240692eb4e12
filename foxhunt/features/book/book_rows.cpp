#include "foxhunt/features/book/book_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/features/book/book_rows_impl.h"

namespace foxhunt::features {
namespace {

using book::DepthView;

double log_micros(std::int64_t nanos) { return std::log1p(static_cast<double>(nanos) / 1e3); }
double ratio(std::int64_t over, std::int64_t under) {
  return under == 0 ? 0.0 : static_cast<double>(over) / static_cast<double>(under);
}

}  // namespace

BookRows::Impl::Impl(BookFeatureConfig c, Price t, std::optional<market::Calendar> cal)
    : config(std::move(c)),
      tick(t),
      calendar(std::move(cal)),
      schema(make_book_schema(config)),
      warm_up(schema.warm_up()),
      levels(static_cast<std::size_t>(config.levels.back())),
      layout{config.levels.size()},
      windows(config.spans, layout.size()),
      terms(layout.size()) {}

void BookRows::Impl::forget() noexcept {
  memory.views = 0;
  memory.last = {};
  memory.at = kNullTime;
  windows.clear();
}

void BookRows::Impl::keep(const DepthView& view) noexcept {
  DepthView& last = memory.last;
  last.instrument = view.instrument;
  last.ts_event = view.ts_event;
  last.ts_recv = view.ts_recv;
  last.sequence = view.sequence;
  last.quality = view.quality;
  std::copy_n(view.bids.begin(), levels, last.bids.begin());
  std::copy_n(view.asks.begin(), levels, last.asks.begin());
}

/// Looks only where the last session does not hold `at`.
bool BookRows::Impl::finds_session(UnixNanos at) noexcept {
  if (!calendar) return true;
  if (is_null(session.open) || at < session.open || at >= session.close) {
    const auto found = calendar->session_at(at);
    if (found && found->open != session.open) forget();
    session = found.value_or(market::Session{});
    if (!found) return false;
  }
  return !session.halted_at(at);
}

BookStatus BookRows::Impl::fault_of(const DepthView* view) noexcept {
  if (view == nullptr || !view->has_both_sides()) return BookStatus::kNoBook;
  if (view->quality.maybe_bad_book) return BookStatus::kBadFeed;
  if (is_null(view->ts_recv) || !is_in_range(*view, levels)) return BookStatus::kBadValue;
  const bool bad_time = view->quality.bad_ts_recv;
  if (!bad_time && !finds_session(view->ts_recv)) return BookStatus::kClosed;
  if (bad_time && memory.views == 0) return BookStatus::kBadFeed;
  return BookStatus::kReady;
}

bool BookRows::Impl::wants(const DepthView& view, const EventTally& tally,
                           bool top_changed) const noexcept {
  if (config.sample == BookSample::kTop) return top_changed;
  if (config.sample == BookSample::kTrade) return tally.trades > 0;
  if (config.sample == BookSample::kEveryN) return memory.views % config.sample_every == 0;
  return view.has_both_sides();
}

BookPush BookRows::Impl::take(const DepthView* view, const EventTally& tally,
                              std::span<float> row) noexcept {
  BookPush push{.status = fault_of(view)};
  if (push.status == BookStatus::kReady) {
    const bool bad_time = view->quality.bad_ts_recv;
    UnixNanos at = bad_time ? memory.at : view->ts_recv;
    if (memory.views > 0 && at < memory.at) {
      ++memory.steps_back;
      at = memory.at;
    }
    const bool goes_on = memory.views > 0 && !tally.restart &&
                         at - memory.at <= std::chrono::seconds{config.max_gap_seconds};
    bool top_changed = true;
    if (goes_on) {
      top_changed = view->bids[0] != memory.last.bids[0] || view->asks[0] != memory.last.asks[0];
      if (make_terms(memory.last, *view, tally, (at - memory.at).count(), tick.nano, config.levels,
                     terms)) {
        windows.push(terms);
      } else {
        push.status = BookStatus::kBadValue;
      }
    } else {
      forget();
      ++memory.sequences;
      push.starts_sequence = true;
    }
    if (push.status == BookStatus::kReady) {
      keep(*view);
      memory.at = at;
      ++memory.views;
      if (view->bids[0].price >= view->asks[0].price) {
        push.status = BookStatus::kCrossed;
      } else if (bad_time) {
        push.status = BookStatus::kBadFeed;
      } else if (memory.views < warm_up) {
        push.status = BookStatus::kWarmingUp;
      } else if (!wants(*view, tally, top_changed)) {
        push.status = BookStatus::kNotSampled;
      } else {
        write(*view, row);
      }
    } else {
      forget();
    }
  } else {
    forget();
  }
  ++memory.counts[static_cast<std::size_t>(push.status)];
  return push;
}

void BookRows::Impl::write(const DepthView& view, std::span<float> row) const noexcept {
  std::size_t next = 0;
  const auto put = [&](double value) { row[next++] = static_cast<float>(value); };
  const book::Level& bid = view.bids[0];
  const book::Level& ask = view.asks[0];
  const double spread =
      (static_cast<double>(ask.price.nano) - static_cast<double>(bid.price.nano)) /
      static_cast<double>(tick.nano);
  put(spread);
  put(spread / 2 * ratio(bid.size - ask.size, bid.size + ask.size));
  std::int64_t more = 0;
  std::int64_t depth = 0;
  std::size_t m = 0;
  for (const std::int64_t deepest : config.levels) {
    for (; m < static_cast<std::size_t>(deepest); ++m) {
      more += view.bids[m].size - view.asks[m].size;
      depth += view.bids[m].size + view.asks[m].size;
    }
    put(ratio(more, depth));
  }
  put(log_micros(windows.last(layout.elapsed())));
  for (std::size_t w = 0; w < config.spans.size(); ++w) {
    const auto n = static_cast<double>(config.spans[w]);
    const auto sum = [&](std::size_t term) { return windows.sum(w, term); };
    for (std::size_t i = 0; i < config.levels.size(); ++i) {
      put(2 * n * ratio(sum(layout.flow(i)), sum(layout.depth(i))));
    }
    put(ratio(sum(layout.signed_volume()), sum(layout.volume())));
    put(std::log1p(static_cast<double>(sum(layout.volume()))));
    put(static_cast<double>(sum(layout.adds())) / n);
    put(static_cast<double>(sum(layout.cancels())) / n);
    put(2 * n * ratio(sum(layout.lost_bid()), sum(layout.depth(0))));
    put(2 * n * ratio(sum(layout.lost_ask()), sum(layout.depth(0))));
    put(std::sqrt(static_cast<double>(sum(layout.squared_move())) / n) / 2);  // of half ticks
    put(log_micros(sum(layout.elapsed())));
  }
}

BookRows::BookRows(BookFeatureConfig config, Price tick, std::optional<market::Calendar> calendar) {
  require_usable(config, tick);
  impl_ = std::make_unique<Impl>(std::move(config), tick, std::move(calendar));
}
BookRows::~BookRows() = default;
BookRows::BookRows(const BookRows& other) : impl_(std::make_unique<Impl>(*other.impl_)) {}
BookRows& BookRows::operator=(const BookRows& other) {
  if (this != &other) impl_ = std::make_unique<Impl>(*other.impl_);
  return *this;
}
BookRows::BookRows(BookRows&&) noexcept = default;
BookRows& BookRows::operator=(BookRows&&) noexcept = default;

const Schema& BookRows::schema() const noexcept { return impl_->schema; }
std::int64_t BookRows::width() const noexcept {
  return static_cast<std::int64_t>(impl_->schema.columns.size());
}
const BookFeatureConfig& BookRows::config() const noexcept { return impl_->config; }
std::size_t BookRows::levels() const noexcept { return impl_->levels; }
std::int64_t BookRows::count(BookStatus status) const noexcept {
  return impl_->memory.counts[static_cast<std::size_t>(status)];
}
std::int64_t BookRows::sequences() const noexcept { return impl_->memory.sequences; }
std::int64_t BookRows::steps_back() const noexcept { return impl_->memory.steps_back; }
const market::Session& BookRows::session() const noexcept { return impl_->session; }

void BookRows::reset() noexcept {
  impl_->forget();
  impl_->memory = {};
  impl_->session = {};
}

BookPush BookRows::take(const DepthView* view, const EventTally& tally, std::span<float> row) {
  if (row.size() != impl_->schema.columns.size()) {
    throw ShapeError(
        fmt::format("[book features] the row has room for {} values, but there are {} columns",
                    row.size(), impl_->schema.columns.size()));
  }
  return impl_->take(view, tally, row);
}

}  // namespace foxhunt::features
