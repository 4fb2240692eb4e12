#pragma once
// A small bundle that answers order events, proven as proven_bundle() is, and the events behind it.

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "foxhunt/book/random_orders.h"
#include "foxhunt/features/row_pipeline.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine::test {

/// A clear and orders within a session of ES, 1 in 50 of them wrong; then what real feeds hold: a
/// hole, an event that is late, ones whose book the vendor doubts, another instrument, the market's
/// close.
inline std::vector<market::OrderEvent> an_order_feed() {
  constexpr std::int64_t kTick = 250'000'000;
  book::test::RandomOrders made(3, kTick, 200, 20, false);
  std::vector<market::OrderEvent> feed(3000);
  for (market::OrderEvent& e : feed) {
    e = made.next();
    e.size = market::stated_size(e.size);
    e.ts_event += std::chrono::hours{16};  // 16:00 in UTC: far from a session's ends
    e.ts_recv = e.ts_event + std::chrono::microseconds{20};
  }
  feed.front().action = 'R';
  feed.front().flags = market::flag::kLast;
  for (std::size_t i = 1500; i < feed.size(); ++i) {
    feed[i].ts_event += std::chrono::minutes{40};  // a hole: a new sequence
    feed[i].ts_recv += std::chrono::minutes{40};
  }
  feed[900].ts_recv -= std::chrono::minutes{1};
  for (std::size_t i = 2500; i < 2504; ++i)
    feed[i].flags = market::flag::kLast | market::flag::kMaybeBadBook;
  for (std::size_t i = 2600; i < feed.size(); ++i) feed[i].instrument.instrument_id = 8;
  feed[2600].action = 'R';
  feed[2600].flags = market::flag::kLast;
  for (std::size_t i = 2950; i < feed.size(); ++i) {
    feed[i].ts_event += std::chrono::minutes{330};  // 22:10: the market is closed
    feed[i].ts_recv += std::chrono::minutes{330};
  }
  return feed;
}

inline std::vector<Answer> answers_of(const std::shared_ptr<const Plan>& plan,
                                      const std::vector<market::OrderEvent>& feed) {
  Session session(plan);
  std::vector<Answer> answers;
  for (const market::OrderEvent& event : feed) {
    Answer answer{.out = std::vector<float>(static_cast<std::size_t>(plan->n_outputs()))};
    answer.status = session.on_event(event, answer.out);
    answers.push_back(std::move(answer));
  }
  return answers;
}

inline bundle::Bundle proven_book_bundle(std::uint64_t seed = 1) {
  bundle::Bundle b = bundle::test::small_bundle(seed);
  b.form = bundle::WeightForm::kF32;
  b.context.book = features::BookFeatureConfig{
      .sample = features::BookSample::kTop, .levels = {1, 2}, .spans = {3, 20}};
  features::RowPipeline pipeline(b.context.features, b.context.book,
                                 market::Calendar::for_product(b.context.product),
                                 market::contract_for_product(b.context.product));
  b.context.schema = pipeline.schema();
  const std::vector<market::OrderEvent> feed = an_order_feed();
  const features::FitRange range{feed.front().ts_recv, feed[1400].ts_recv};
  features::NormalizerFit fit(pipeline.schema(), range);
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  for (std::size_t i = 0; i <= 1400; ++i) {
    if (pipeline.push(feed[i], row).status == features::Status::kReady)
      fit.add(pipeline.moment().available_at, row);
  }
  b.context.normalizer = fit.finish(5);
  b.head.n_features = pipeline.width();
  b.weights.clear();
  Rng rng(seed);
  for (const model::TensorInfo& info : model::tensor_list(b.config, b.head)) {
    std::vector<float>& values = b.weights[info.name];
    for (std::int64_t i = 0; i < info.size(); ++i)
      values.push_back(static_cast<float>(rng.uniform(-1.0, 1.0)));
  }
  b.golden = {.events = feed};
  for (const Answer& a : answers_of(Plan::build(b), feed)) {
    b.golden.ready.push_back(a.status == Status::kReady ? 1 : 0);
    if (a.status == Status::kReady)
      b.golden.outputs.insert(b.golden.outputs.end(), a.out.begin(), a.out.end());
  }
  prove(b);
  return b;
}

}  // namespace foxhunt::engine::test
