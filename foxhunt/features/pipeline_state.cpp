// What a FeaturePipeline remembers, as bytes.
//
// Nothing that follows from the rest is written, so that nothing can contradict it: no positions in
// rings and no sums (values come oldest first and are pushed again), no short windows (they are the
// end of the longest), no session (the calendar gives it), no counts of values (the bars of the
// sequence give them).

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <sstream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "foxhunt/base/state_part.h"
#include "foxhunt/config/config.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/features/pipeline_impl.h"

namespace foxhunt::features {
namespace {

using market::Bar;

constexpr std::string_view kPart = "features.pipeline";
/// 2 where there are libraries, which have a counter and memories of their own.
constexpr std::uint32_t kVersion = 1;
constexpr std::uint32_t kVersionWithLibraries = 2;

constexpr BarFault kCounters[] = {&PushCounters::bars,
                                  &PushCounters::ready,
                                  &PushCounters::warming_up,
                                  &PushCounters::closed,
                                  &PushCounters::null_value,
                                  &PushCounters::non_positive_price,
                                  &PushCounters::inconsistent_ohlc,
                                  &PushCounters::other_length,
                                  &PushCounters::duplicates,
                                  &PushCounters::conflicts,
                                  &PushCounters::out_of_order,
                                  &PushCounters::sequences,
                                  &PushCounters::new_session,
                                  &PushCounters::new_contract,
                                  &PushCounters::after_halt,
                                  &PushCounters::long_gap,
                                  &PushCounters::not_finite};
static_assert(sizeof(PushCounters) == std::size(kCounters) * sizeof(std::int64_t));

/// Those that a state of this version holds.
std::span<const BarFault> counters_of(std::uint32_t version) {
  const std::span<const BarFault> all(kCounters);
  return version == kVersion ? all.first(all.size() - 1) : all;
}

/// More bars than any stream has; sums of a few counters below it do not overflow.
constexpr std::int64_t kMostBars = std::int64_t{1} << 56U;

/// Lines of `text` that `other` does not have.
std::string only_in(const std::string& text, const std::string& other) {
  const auto lines_of = [](const std::string& all) {
    std::vector<std::string> lines;
    std::istringstream in(all);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  };
  const auto others = lines_of(other);
  std::vector<std::string> rest;
  for (const std::string& line : lines_of(text)) {
    if (std::ranges::find(others, line) == others.end()) rest.push_back(line);
  }
  return fmt::format("{}", fmt::join(rest, ", "));
}

void write_bar(ByteWriter& to, const Bar& bar) {
  to.value(bar.instrument.publisher_id);
  to.value(bar.instrument.instrument_id);
  to.value(count(bar.start));
  to.value(std::int64_t{bar.span.count()});
  for (const Price price : {bar.open, bar.high, bar.low, bar.close}) to.value(price.nano);
  to.value(bar.volume);
}

Bar read_bar(ByteReader& from) {
  Bar bar;
  bar.instrument.publisher_id = from.value<std::uint16_t>();
  bar.instrument.instrument_id = from.value<std::uint32_t>();
  bar.start = from_nanos(from.value<std::int64_t>());
  bar.span = std::chrono::nanoseconds{from.value<std::int64_t>()};
  for (Price* price : {&bar.open, &bar.high, &bar.low, &bar.close}) {
    price->nano = from.value<std::int64_t>();
  }
  bar.volume = from.value<std::uint64_t>();
  return bar;
}

void write_window(ByteWriter& to, const SlidingMean& window) {
  std::vector<std::uint64_t> words;
  words.reserve(2 * window.size());
  for (std::size_t ago = window.size(); ago-- > 0;) {
    const SlidingMean::Exact value = window.exact(ago);
    words.insert(words.end(), {value.high, value.low});
  }
  to.list(std::span<const std::uint64_t>(words));
}

/// `n` values, oldest first.
std::vector<SlidingMean::Exact> read_window(ByteReader& from, std::int64_t n) {
  std::vector<std::uint64_t> words(2 * static_cast<std::size_t>(n));
  from.list(std::span(words));
  std::vector<SlidingMean::Exact> values;
  values.reserve(words.size() / 2);
  for (std::size_t i = 0; i < words.size(); i += 2) {
    values.push_back({.high = words[i], .low = words[i + 1]});
    if (!values.back().is_valid()) from.fail("a value of a sliding mean is too large");
  }
  return values;
}

PushCounters read_counters(ByteReader& from, std::uint32_t version) {
  PushCounters counters;
  std::vector<std::int64_t> values(counters_of(version).size());
  from.list(std::span(values));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] < 0 || values[i] > kMostBars) {
      from.fail(fmt::format("counter {} is {}", i, values[i]));
    }
    counters.*kCounters[i] = values[i];
  }
  const PushCounters& c = counters;
  const std::int64_t accepted = c.taken();
  if (c.bars != accepted + c.closed + c.bad() + c.unordered() ||
      c.sequences != c.new_session + c.new_contract + c.after_halt + c.long_gap ||
      c.sequences > accepted || (c.sequences == 0) != (accepted == 0)) {
    from.fail(fmt::format("the counters contradict each other ({})", c.summary()));
  }
  return counters;
}

std::uint32_t version_of(const UserColumns& user) {
  return user.empty() ? kVersion : kVersionWithLibraries;
}

}  // namespace

std::string FeaturePipeline::Impl::identity() const {
  return fmt::format("product = '{}'\ncalendar = '{}'\ntick = {} * 1e-9\nschema = {}\n{}{}",
                     contract.product, calendar.product(), contract.tick.nano, schema.hash(),
                     config::dump(config), user.identity());
}

void FeaturePipeline::save(ByteWriter& to) const {
  const PipelineMemory& memory = impl_->memory;
  const std::uint32_t version = version_of(impl_->user);
  ByteWriter out;
  out.text(impl_->identity());
  std::vector<std::int64_t> counters;
  counters.reserve(std::size(kCounters));
  for (const BarFault counter : counters_of(version)) counters.push_back(memory.counters.*counter);
  out.list(std::span<const std::int64_t>(counters));
  out.value(memory.last.has_value());
  if (memory.last) {
    write_bar(out, *memory.last);
    out.value(memory.bars);
    std::vector<std::int64_t> closes;  // those before the last one
    const auto size = static_cast<std::int64_t>(memory.closes.size());
    for (std::int64_t ago = std::min(memory.bars, size) - 1; ago > 0; --ago) {
      closes.push_back(memory.close(ago).nano);
    }
    out.list(std::span<const std::int64_t>(closes));
    write_window(out, memory.volatilities.back().squares());
    write_window(out, memory.log_volume);
  }
  if (version == kVersionWithLibraries) impl_->user.save(memory.user, out);
  write_part(to, kPart, version, out.bytes());
}

void FeaturePipeline::Impl::read_sequence(ByteReader& from, PipelineMemory& into) const {
  const Bar last = read_bar(from);
  const bool usable = fault_of(last) == nullptr;
  const auto session = usable ? session_of(last) : std::nullopt;
  if (!session) {
    from.fail(usable ? fmt::format("the last bar, of {}, lies in no session of '{}'",
                                   to_string(last.start), calendar.product())
                     : "the last bar is none that the pipeline takes");
  }
  const auto bars = from.value<std::int64_t>();
  const std::int64_t most = (last.end() - session->open) / last.span;
  const std::int64_t accepted = into.counters.taken();
  if (bars < 1 || bars > most || bars > accepted) {
    from.fail(fmt::format("a sequence of {} bars; {} fit into the session and {} were taken", bars,
                          most, accepted));
  }
  const auto size = static_cast<std::int64_t>(into.closes.size());
  std::vector<std::int64_t> closes(static_cast<std::size_t>(std::min(bars, size) - 1));
  from.list(std::span(closes));
  for (const std::int64_t close : closes) {
    if (close <= 0 || Price{close}.is_null()) from.fail(fmt::format("a close of {}", close));
  }
  const auto squares = read_window(from, std::min(bars - 1, config.volatility_spans.back()));
  const auto volumes = read_window(from, std::min(bars, config.volume_span));

  into.last = last;
  into.session = *session;
  into.bars = bars;
  closes.push_back(last.close.nano);
  for (std::size_t i = 0; i < closes.size(); ++i) {
    const auto bar = static_cast<std::size_t>(bars) - closes.size() + i;
    into.closes[bar % into.closes.size()] = Price{closes[i]};
  }
  for (const SlidingMean::Exact square : squares) {
    for (RealisedVolatility& volatility : into.volatilities) volatility.push_square(square);
  }
  for (const SlidingMean::Exact volume : volumes) into.log_volume.push_exact(volume);
}

void FeaturePipeline::restore(ByteReader& from) {
  const std::uint32_t version = version_of(impl_->user);
  ByteReader part = read_part(from, kPart, version);
  const std::string here = impl_->identity();
  const std::string there = part.text();
  if (there != here) {
    part.fail(fmt::format("the state of another pipeline: there {}; here {}", only_in(there, here),
                          only_in(here, there)));
  }
  PipelineMemory restored(impl_->config, impl_->contract.tick, impl_->user);
  restored.counters = read_counters(part, version);
  if (part.value<bool>()) {
    impl_->read_sequence(part, restored);
  } else if (restored.counters.sequences > 0) {
    part.fail("bars were taken, but there is no last bar");
  }
  if (version == kVersionWithLibraries) impl_->user.restore(part, restored.user);
  part.finish();
  static_assert(std::is_nothrow_move_assignable_v<PipelineMemory>);
  impl_->memory = std::move(restored);
}

}  // namespace foxhunt::features
