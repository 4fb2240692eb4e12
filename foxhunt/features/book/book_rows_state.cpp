// What BookRows remembers, as bytes: the last view, the terms of the longest window, counts. Sums
// are not written (the terms are pushed again), nor is the session (the calendar gives it).
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "foxhunt/base/state_part.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/book/book_rows.h"
#include "foxhunt/features/book/book_rows_impl.h"

namespace foxhunt::features {
namespace {

constexpr std::string_view kPart = "features.book_rows";
constexpr std::uint32_t kVersion = 1;
constexpr std::int64_t kMostEvents = std::int64_t{1} << 56U;

std::string identity(const BookFeatureConfig& config, const Schema& schema, Price tick,
                     const std::optional<market::Calendar>& calendar) {
  return fmt::format("calendar = '{}'\ntick = {} * 1e-9\nschema = {}\n{}",
                     calendar ? calendar->product() : "none", tick.nano, schema.hash(),
                     config::dump(config));
}

void write_view(ByteWriter& to, const book::DepthView& view) {
  to.value(view.instrument.publisher_id);
  to.value(view.instrument.instrument_id);
  to.value(count(view.ts_event));
  to.value(count(view.ts_recv));
  to.value(view.sequence);
  to.value(view.quality.maybe_bad_book);
  to.value(view.quality.bad_ts_recv);
  for (const auto* side : {&view.bids, &view.asks}) {
    for (const book::Level& level : *side) {
      to.value(level.price.nano);
      to.value(level.size);
      to.value(level.orders);
    }
  }
}

book::DepthView read_view(ByteReader& from, std::size_t levels) {
  book::DepthView view;
  view.instrument.publisher_id = from.value<std::uint16_t>();
  view.instrument.instrument_id = from.value<std::uint32_t>();
  view.ts_event = from_nanos(from.value<std::int64_t>());
  view.ts_recv = from_nanos(from.value<std::int64_t>());
  view.sequence = from.value<std::uint32_t>();
  view.quality.maybe_bad_book = from.value<bool>();
  view.quality.bad_ts_recv = from.value<bool>();
  for (auto* side : {&view.bids, &view.asks}) {
    for (book::Level& level : *side) {
      level.price.nano = from.value<std::int64_t>();
      level.size = from.value<std::int64_t>();
      level.orders = from.value<std::uint32_t>();
    }
  }
  if (!view.has_both_sides() || !is_in_range(view, levels)) from.fail("a view that gives no row");
  for (std::size_t m = levels; m < book::DepthView::kLevels; ++m) {
    if (view.bids[m] != book::Level{} || view.asks[m] != book::Level{}) {
      from.fail("levels that nothing looks at");
    }
  }
  return view;
}

}  // namespace

void BookRows::save(ByteWriter& to) const {
  const BookMemory& memory = impl_->memory;
  ByteWriter out;
  out.text(identity(impl_->config, impl_->schema, impl_->tick, impl_->calendar));
  for (const std::int64_t n : memory.counts) out.value(n);
  out.value(memory.sequences);
  out.value(memory.steps_back);
  out.value(memory.views);
  if (memory.views > 0) {
    write_view(out, memory.last);
    out.value(foxhunt::count(memory.at));
    for (std::size_t ago = impl_->windows.kept(); ago-- > 0;) {
      for (const std::int64_t term : impl_->windows.terms(ago)) out.value(term);
    }
  }
  write_part(to, kPart, kVersion, out.bytes());
}

void BookRows::restore(ByteReader& from) {
  ByteReader part = read_part(from, kPart, kVersion);
  const std::string theirs = part.text();
  const std::string ours = identity(impl_->config, impl_->schema, impl_->tick, impl_->calendar);
  if (theirs != ours) {
    part.fail(fmt::format("a state of other book features:\n{}\nthese are:\n{}", theirs, ours));
  }
  auto fresh = std::make_unique<Impl>(impl_->config, impl_->tick, impl_->calendar);
  BookMemory& memory = fresh->memory;
  const auto number = [&part](std::int64_t most) {
    const auto n = part.value<std::int64_t>();
    if (n < 0 || n > most) part.fail(fmt::format("a count of {}, at most {}", n, most));
    return n;
  };
  std::int64_t all = 0;
  for (std::int64_t& n : memory.counts) all += n = number(kMostEvents);
  memory.sequences = number(all);
  memory.steps_back = number(all);
  const std::int64_t views = number(all);
  if (views > 0) {
    const book::DepthView last = read_view(part, fresh->levels);
    const UnixNanos at = from_nanos(part.value<std::int64_t>());
    // First the session, since to find one forgets what was before it.
    if (!fresh->finds_session(at)) part.fail("the last event lies in no session");
    memory.last = last;
    memory.at = at;
    const std::int64_t kept = std::min(views - 1, fresh->config.spans.back());
    for (std::int64_t i = 0; i < kept; ++i) {
      for (std::int64_t& term : fresh->terms) {
        term = part.value<std::int64_t>();
        if (term > kMostTerm || term < -kMostTerm) part.fail(fmt::format("a term of {}", term));
      }
      fresh->windows.push(fresh->terms);
    }
  }
  part.finish();
  memory.views = views;
  impl_ = std::move(fresh);
}

}  // namespace foxhunt::features
