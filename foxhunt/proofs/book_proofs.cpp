#include "foxhunt/proofs/book_proofs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/proofs/compare.h"
#include "foxhunt/proofs/memory_reader.h"
#include "foxhunt/proofs/serving_proof.h"
#include "foxhunt/proofs/training_rows.h"

namespace foxhunt::proofs {
namespace {

using market::OrderEvent;

/// Anywhere that the next event came later; a third of them beside a trade.
std::vector<std::size_t> choose_points(const BookGround& ground, Rng& rng) {
  std::vector<std::size_t> places;
  std::vector<std::size_t> near;
  for (std::size_t i = 0; i + 1 < ground.events.size(); ++i) {
    if (ground.events[i + 1].ts_recv <= ground.events[i].ts_recv) continue;
    places.push_back(i);
    if (ground.events[i].action == 'T' || ground.events[i + 1].action == 'T') near.push_back(i);
  }
  if (places.size() < 2) {
    throw DataError(
        fmt::format("[proofs] {} order events: nothing to prove", ground.events.size()));
  }
  std::set<std::size_t> points;
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(ground.points, 1));
  for (std::size_t tries = 0;
       points.size() < std::min(wanted, places.size()) && tries < 100 * wanted; ++tries) {
    const auto& from = tries % 3 == 0 && !near.empty() ? near : places;
    points.insert(from[rng.below(from.size())]);
  }
  return {points.begin(), points.end()};
}

/// What the two outputs differ in, of what was known at `t`.
std::optional<Counterexample> difference(const std::vector<Series>& series,
                                         const std::vector<Entries>& a,
                                         const std::vector<Entries>& b, UnixNanos t,
                                         std::string what, Verdict& verdict) {
  for (std::size_t s = 0; s < series.size(); ++s) {
    auto found = first_difference(series[s], a[s], b[s], {.known_until = t}, verdict.compared);
    if (!found) continue;
    found->t = t;
    found->what = std::move(what);
    return found;
  }
  return std::nullopt;
}

}  // namespace

BookTrainingRows::BookTrainingRows(const train::ExperimentConfig& config) : config_(config) {
  if (!config_.book_settings())
    throw ConfigError("[proofs] data.records = bars: rows are not made of an order book");
  series_ = series_of(pipeline().schema(), config_.label);
}

features::RowPipeline BookTrainingRows::pipeline() const {
  return {config_.features, config_.book_settings(),
          market::Calendar::for_product(config_.data.product),
          market::contract_for_product(config_.data.product)};
}

train::SequenceSet BookTrainingRows::sequences(std::span<const OrderEvent> events) const {
  train::SequenceBuilder builder({.product = config_.data.product}, config_.features, config_.label,
                                 config_.book_settings());
  MemoryReader<OrderEvent> reader(events);
  builder.add(reader);
  return builder.finish();
}

std::vector<Entries> BookTrainingRows::run(std::span<const OrderEvent> events) const {
  features::RowPipeline first = pipeline();
  std::vector<float> row(static_cast<std::size_t>(first.width()));
  const bool any = std::ranges::any_of(events, [&](const OrderEvent& event) {
    return first.push(event, row).status == features::Status::kReady;
  });
  if (!any) return std::vector<Entries>(series_.size());
  return entries_of(sequences(events).sequences);
}

std::vector<OrderEvent> meant_events(const train::ExperimentConfig& config, std::int64_t& records) {
  market::BarSelector selector({.product = config.data.product, .symbol = config.data.symbol});
  std::vector<OrderEvent> events;
  for (const std::string& path : config.data.files) {
    const auto reader = market::open_reader(path, {.csv = config.data.csv});
    while (const OrderEvent* event = selector.next_event(*reader)) events.push_back(*event);
  }
  records = selector.counters().records;
  return events;
}

std::vector<OrderEvent> with_other_future(std::span<const OrderEvent> events, std::size_t last,
                                          Poison poison, Rng& rng) {
  std::vector<OrderEvent> other(events.begin(),
                                events.begin() + static_cast<std::ptrdiff_t>(last + 1));
  if (poison == Poison::kDeleted) return other;
  std::chrono::nanoseconds late{0};
  const auto change = [&rng](OrderEvent e) {
    e.price.nano += (static_cast<std::int64_t>(rng.below(81)) - 40) * 250'000'000;
    e.size = static_cast<std::uint32_t>(1 + rng.below(500));
    e.action = "ACMTF"[rng.below(5)];
    e.side = rng.below(2) == 0 ? market::Side::kBid : market::Side::kAsk;
    if (rng.below(3) == 0) e.order_id += 1'000'000'000;
    return e;
  };
  for (std::size_t i = last + 1; i < events.size(); ++i) {
    OrderEvent e = events[i];
    switch (poison) {
      case Poison::kValues:
        e = change(e);
        break;
      case Poison::kDeleted:
        break;
      case Poison::kThinned:
        if (i == last + 1 || rng.below(2) == 0) continue;
        break;
      case Poison::kTimes:
        if (rng.below(16) == 0) late += std::chrono::milliseconds{rng.below(30'000)};
        e.ts_recv += late;
        e.ts_event += late;
        break;
      case Poison::kExtra:
        if (i == last + 1 || rng.below(4) == 0) other.push_back(change(e));
        break;
      case Poison::kUnusable:
        if (i == last + 1 || rng.below(8) == 0) {
          e.price = Price::null();
          e.action = "AMR?"[rng.below(4)];
          e.flags = static_cast<std::uint8_t>(rng.below(256));
        }
        break;
      case Poison::kContract:
        e.instrument.instrument_id += 1'000'000;
        break;
    }
    other.push_back(e);
  }
  return other;
}

Verdict prove_future_poisoning(const BookSource& source, const BookGround& ground) {
  Verdict verdict{.name = "future-poisoning"};
  Rng rng = Rng(ground.seed).split("future");
  const std::vector<Entries> clean = source.run(ground.events);
  std::size_t turn = 0;
  for (const std::size_t point : choose_points(ground, rng)) {
    const Poison poison = kPoisons[turn++ % kPoisons.size()];
    const auto after = source.run(with_other_future(ground.events, point, poison, rng));
    ++verdict.tries;
    if (auto found = difference(source.series(), clean, after, ground.events[point].ts_recv,
                                fmt::format("{} after", name_of(poison)), verdict))
      verdict.fail(*std::move(found));
  }
  return verdict;
}

Verdict prove_prefix_invariance(const BookSource& source, const BookGround& ground) {
  Verdict verdict{.name = "prefix-invariance"};
  Rng rng = Rng(ground.seed).split("prefix");
  const std::vector<Entries> whole = source.run(ground.events);
  for (const std::size_t point : choose_points(ground, rng)) {
    const auto part = source.run(ground.events.first(point + 1));
    ++verdict.tries;
    if (auto found = difference(source.series(), whole, part, ground.events[point].ts_recv,
                                "the data ended at", verdict))
      verdict.fail(*std::move(found));
  }
  return verdict;
}

Verdict prove_training_is_serving(const BookTrainingRows& source, const BookGround& ground) {
  Rng rng = Rng(ground.seed).split("serving");
  const auto points = choose_points(ground, rng);
  return serve_and_compare(source, ground.events, {points.begin(), points.end()});
}

}  // namespace foxhunt::proofs
