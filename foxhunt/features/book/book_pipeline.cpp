#include "foxhunt/features/book/book_pipeline.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

#include "foxhunt/base/state_part.h"

namespace foxhunt::features {
namespace {

constexpr std::string_view kPart = "features.book_pipeline";
constexpr std::uint32_t kVersion = 1;

constexpr std::int64_t PushCounters::*kCounters[] = {
    &PushCounters::bars,        &PushCounters::ready,      &PushCounters::warming_up,
    &PushCounters::closed,      &PushCounters::null_value, &PushCounters::sequences,
    &PushCounters::new_contract};

Status status_of(BookStatus status) {
  switch (status) {
    case BookStatus::kReady:
      return Status::kReady;
    case BookStatus::kWarmingUp:
      return Status::kWarmingUp;
    case BookStatus::kClosed:
      return Status::kClosed;
    case BookStatus::kBadFeed:
    case BookStatus::kBadValue:
      return Status::kBadBar;
    case BookStatus::kNotSampled:
    case BookStatus::kInsideEvent:
    case BookStatus::kNoBook:
    case BookStatus::kCrossed:
      return Status::kNoSample;
  }
  return Status::kNoSample;
}

/// Exact: best prices lie on a grid of an even number of units.
Price mid_of(const book::DepthView& view) {
  return {view.bids[0].price.nano + (view.asks[0].price.nano - view.bids[0].price.nano) / 2};
}

}  // namespace

BookPipeline::BookPipeline(const BookFeatureConfig& config, const market::Calendar& calendar,
                           const market::Contract& contract)
    : features_(config, contract.tick, calendar, {}) {}

PushResult BookPipeline::push(const market::OrderEvent& event, std::span<float> row) {
  if (instrument_ != event.instrument) {
    if (instrument_) {
      features_.reset();
      ++counters_.new_contract;
    }
    instrument_ = event.instrument;
  }
  market::OrderEvent own = event;
  own.instrument = {};
  const BookPush pushed = features_.push(own, row);
  const PushResult result{.status = status_of(pushed.status),
                          .starts_sequence = pushed.starts_sequence};
  ++counters_.bars;
  if (result.starts_sequence) {
    ++counters_.sequences;
    moment_.available_at = kNullTime;
  }
  if (result.status == Status::kReady) {
    ++counters_.ready;
    const book::DepthView& view = features_.view();
    moment_ = {.start = view.ts_event,
               .available_at = is_null(moment_.available_at)
                                   ? view.ts_recv
                                   : std::max(moment_.available_at, view.ts_recv),
               .price = mid_of(view)};
  } else if (result.status == Status::kWarmingUp) {
    ++counters_.warming_up;
  } else if (result.status == Status::kClosed) {
    ++counters_.closed;
  } else if (result.status == Status::kBadBar) {
    ++counters_.null_value;
  }
  return result;
}

std::string BookPipeline::summary() const {
  std::string text = counters_.summary();
  const auto add = [&](BookStatus status, const char* what) {
    if (const std::int64_t n = features_.rows().count(status); n > 0)
      text += fmt::format(", {} {}", n, what);
  };
  add(BookStatus::kInsideEvent, "inside an event");
  add(BookStatus::kNotSampled, "events that are no sample");
  add(BookStatus::kNoBook, "without a book");
  add(BookStatus::kCrossed, "with a crossed or locked book");
  return text + "; book: " + features_.book().counters().summary();
}

void BookPipeline::reset() noexcept {
  features_.reset();
  instrument_.reset();
  moment_ = {};
  counters_ = {};
}

void BookPipeline::save(ByteWriter& to) const {
  ByteWriter out;
  out.value(instrument_.has_value());
  out.value(instrument_.value_or(market::InstrumentKey{}).publisher_id);
  out.value(instrument_.value_or(market::InstrumentKey{}).instrument_id);
  for (const auto counter : kCounters) out.value(counters_.*counter);
  out.value(count(moment_.start));
  out.value(count(moment_.available_at));
  out.value(moment_.price.nano);
  features_.save(out);
  write_part(to, kPart, kVersion, out.bytes());
}

void BookPipeline::restore(ByteReader& from) {
  ByteReader part = read_part(from, kPart, kVersion);
  const bool has_instrument = part.value<bool>();
  market::InstrumentKey instrument;
  instrument.publisher_id = part.value<std::uint16_t>();
  instrument.instrument_id = part.value<std::uint32_t>();
  PushCounters counters;
  for (const auto counter : kCounters) {
    counters.*counter = part.value<std::int64_t>();
    if (counters.*counter < 0 || counters.*counter > counters.bars)
      part.fail(fmt::format("a counter of {}", counters.*counter));
  }
  if (counters.unsampled() < 0) part.fail("the counters contradict each other");
  RowMoment moment;
  moment.start = from_nanos(part.value<std::int64_t>());
  moment.available_at = from_nanos(part.value<std::int64_t>());
  moment.price.nano = part.value<std::int64_t>();
  features_.restore(part);  // changes nothing where it throws
  part.finish();
  instrument_ = has_instrument ? std::optional(instrument) : std::nullopt;
  counters_ = counters;
  moment_ = moment;
}

}  // namespace foxhunt::features
