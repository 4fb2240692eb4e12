// The proofs about order books: they hold for what training makes, and catch what looks ahead.
#include "foxhunt/proofs/book_proofs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "foxhunt/base/error.h"
#include "foxhunt/book/random_orders.h"
#include "foxhunt/proofs/prove.h"

namespace foxhunt::proofs {
namespace {

using market::OrderEvent;

train::ExperimentConfig book_config() {
  train::ExperimentConfig config;
  config.data.records = train::RecordChoice::kOrders;
  config.book.sample = features::BookSample::kTop;
  config.book.spans = {3, 20};
  config.label.horizon = 5;
  config.label.dead_zone = 0.4;
  config.label.dead_zone_unit = bundle::DeadZoneUnit::kTicks;
  config.label.scale_return = false;
  return config;
}

/// A clear, then orders within a session of ES.
const std::vector<OrderEvent>& orders() {
  static const std::vector<OrderEvent> events = [] {
    book::test::RandomOrders made(3, 250'000'000, 300, 0, false);
    std::vector<OrderEvent> out(4000);
    std::ranges::generate(out, [&made] { return made.next(); });
    out.front().action = 'R';
    out.front().flags = market::flag::kLast;
    for (OrderEvent& e : out) e.ts_recv = e.ts_event = e.ts_recv + std::chrono::hours{16};
    return out;
  }();
  return events;
}
BookGround ground() { return {.events = orders(), .points = 28, .seed = 5}; }

/// The clean rows, with one column that knows what comes `ahead` entries later.
class LooksAhead final : public BookSource {
 public:
  explicit LooksAhead(std::size_t ahead) : ahead_(ahead) {}
  const std::vector<Series>& series() const override { return clean_.series(); }
  std::vector<Entries> run(std::span<const OrderEvent> events) const override {
    std::vector<Entries> out = clean_.run(events);
    Entries& rows = out.front();
    const std::size_t width = series().front().width();
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const std::size_t from = std::min(t + ahead_, rows.size() - 1);
      rows.values[t * width + 1] = rows.values[from * width + 1];
    }
    return out;
  }

 private:
  BookTrainingRows clean_{book_config()};
  std::size_t ahead_;
};

TEST(BookProofs, HoldForWhatTrainingMakes) {
  const BookTrainingRows source(book_config());
  EXPECT_GT(source.run(orders()).front().size(), 300U);
  for (const Verdict& verdict :
       {prove_future_poisoning(source, ground()), prove_prefix_invariance(source, ground()),
        prove_training_is_serving(source, ground())}) {
    EXPECT_TRUE(verdict.holds()) << verdict.name << ": " << verdict.first->text();
    EXPECT_EQ(verdict.tries, 28) << verdict.name;
    EXPECT_GT(verdict.compared, 5000) << verdict.name;
  }
}

TEST(BookProofs, CatchAColumnThatLooksAhead) {
  for (const std::size_t ahead : {1U, 5U, 50U}) {
    const LooksAhead source(ahead);
    const Verdict poisoned = prove_future_poisoning(source, ground());
    EXPECT_GT(poisoned.failures, poisoned.tries / 3) << ahead;
    EXPECT_EQ(poisoned.first->column, "features.micro_minus_mid");
    EXPECT_FALSE(prove_prefix_invariance(source, ground()).holds()) << ahead;
  }
  EXPECT_TRUE(prove_future_poisoning(LooksAhead(0), ground()).holds()) << "the control";
}

TEST(BookProofs, EveryPoisonIsAnotherFuture) {
  const BookTrainingRows source(book_config());
  const auto clean = source.run(orders()).front();
  Rng rng(9);
  for (const Poison poison : kPoisons) {
    const auto other = with_other_future(orders(), 2000, poison, rng);
    ASSERT_GE(other.size(), 2001U);
    for (std::size_t i = 0; i <= 2000; ++i) {
      ASSERT_EQ(other[i].order_id, orders()[i].order_id);
      ASSERT_EQ(other[i].ts_recv, orders()[i].ts_recv);
    }
    const auto rows = source.run(other).front();
    EXPECT_TRUE(rows.values != clean.values || rows.decided_at != clean.decided_at)
        << name_of(poison);
  }
}

TEST(BookProofs, RefuseBarsAndTooFewEvents) {
  EXPECT_THROW(BookTrainingRows(train::ExperimentConfig{}), ConfigError);
  const BookTrainingRows source(book_config());
  EXPECT_THROW(prove_prefix_invariance(source, {.events = std::span(orders()).first(2)}),
               DataError);
}

TEST(BookProofs, ProveTheOrdersOfEs) {
  const char* shared = std::getenv("FOXHUNT_SHARED");  // NOLINT(concurrency-mt-unsafe)
  const auto path = std::filesystem::path(shared == nullptr ? "" : shared) /
                    "data/futures/es-mbo/esh4-glbx-mdp3-20231225.mbo.dbn.zst";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "no esh4 MBO file below FOXHUNT_SHARED";
  train::ExperimentConfig config = book_config();
  config.data.files = {path.string()};
  config.data.symbol = "ESH4";
  config.split.embargo_minutes = 0;
  const ProofReport report = prove(config, {.points = 4, .seed = 2, .random_splits = 2});
  EXPECT_TRUE(report.proven()) << report.first();
  EXPECT_EQ(report.bars, 68'792);
  EXPECT_EQ(report.verdicts.size(), 9U);
}

}  // namespace
}  // namespace foxhunt::proofs
