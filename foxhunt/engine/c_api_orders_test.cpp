// The half of <foxhunt.h> for order events, of the shared library, against the C++ engine: the same
// statuses and bits.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "foxhunt/engine/c_api_case.h"
#include "foxhunt/engine/foxhunt.h"

#include "tests/engine/proven_book_bundle.h"

namespace foxhunt::engine {
namespace {

using test::an_order_feed;
using test::c_bar;
using test::kK;
using test::ModelHandle;
using test::saved;
using test::session_of;
using test::SessionHandle;

ModelHandle open_book_model() {
  static const std::string bytes = bundle::bundle_bytes(test::proven_book_bundle(), "book");
  foxhunt_model* model = nullptr;
  EXPECT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "book.fox", nullptr, &model),
            FOXHUNT_OK)
      << foxhunt_last_error();
  return {model, foxhunt_model_close};
}

foxhunt_order c_order(const market::OrderEvent& e) {
  return {.event_ns = count(e.ts_event),
          .received_ns = count(e.ts_recv),
          .order_id = e.order_id,
          .price = e.price.nano,
          .size = e.size == 0 ? 0xFFFF'FFFF : e.size,
          .sequence = e.sequence,
          .instrument_id = e.instrument.instrument_id,
          .delta_ns = e.ts_in_delta,
          .publisher_id = e.instrument.publisher_id,
          .flags = e.flags,
          .channel_id = e.channel_id,
          .action = e.action,
          .side = static_cast<char>(e.side),
          .version = 0,
          .reserved = 0};
}

TEST(CApiOrders, TheFactsSayThatItTakesOrderEvents) {
  const ModelHandle model = open_book_model();
  foxhunt_facts facts{};
  facts.struct_size = sizeof facts;
  ASSERT_EQ(foxhunt_model_facts(model.get(), &facts), FOXHUNT_OK);
  EXPECT_EQ(facts.bar_ns, 0);
  EXPECT_EQ(facts.warm_up, 21) << "the longest span of changes";
  foxhunt_report report{};
  report.struct_size = sizeof report;
  ASSERT_EQ(foxhunt_model_verify(model.get(), &report), FOXHUNT_OK) << foxhunt_last_error();
  EXPECT_GT(report.rows, 150);
}

TEST(CApiOrders, AnswersEveryEventWithTheEnginesBits) {
  const ModelHandle model = open_book_model();
  const SessionHandle whole = session_of(model);
  const SessionHandle halves = session_of(model);
  const std::vector<market::OrderEvent> feed = an_order_feed();
  const auto want = test::answers_of(Plan::build(test::proven_book_bundle()), feed);
  std::set<std::int32_t> statuses;
  for (std::size_t i = 0; i < feed.size(); ++i) {
    const foxhunt_order order = c_order(feed[i]);
    std::vector<float> out(kK);
    const std::int32_t status = foxhunt_session_on_order(whole.get(), &order, out.data(), kK);
    ASSERT_EQ(status, static_cast<std::int32_t>(want[i].status)) << "event " << i;
    ASSERT_EQ(out, want[i].out) << "event " << i;
    std::vector<float> first(kK);
    ASSERT_EQ(foxhunt_session_answer_order(halves.get(), &order, first.data(), kK), status);
    ASSERT_EQ(first, out) << "event " << i;
    if (i % 3 != 0) {
      ASSERT_EQ(foxhunt_session_advance(halves.get()), FOXHUNT_OK);
    }
    statuses.insert(status);
  }
  // All that a feed can meet; an answer that is not due leaves `out` untouched, as compared above.
  EXPECT_EQ(statuses, (std::set<std::int32_t>{FOXHUNT_READY, FOXHUNT_WARMING_UP, FOXHUNT_CLOSED,
                                              FOXHUNT_BAD_RECORD, FOXHUNT_NO_SAMPLE}));
  EXPECT_STREQ(foxhunt_status_text(FOXHUNT_NO_SAMPLE), "no sample");
  ASSERT_EQ(foxhunt_session_advance(halves.get()), FOXHUNT_OK);
  EXPECT_EQ(saved(whole.get()), saved(halves.get()));
  foxhunt_counters counters{};
  counters.struct_size = sizeof counters;
  ASSERT_EQ(foxhunt_session_counters(whole.get(), &counters), FOXHUNT_OK);
  EXPECT_EQ(counters.bars, static_cast<std::int64_t>(feed.size()));
  EXPECT_EQ(counters.ready, std::ranges::count(want, Status::kReady, &test::Answer::status));
  EXPECT_EQ(counters.out_of_order, 0) << "a late event still changes the book";
}

TEST(CApiOrders, AStateInTheMiddleOfAnEventGoesOnWithTheSameBits) {
  const ModelHandle model = open_book_model();
  const std::vector<market::OrderEvent> feed = an_order_feed();
  SessionHandle session = session_of(model);
  const auto want = test::answers_of(Plan::build(test::proven_book_bundle()), feed);
  for (std::size_t i = 0; i < feed.size(); ++i) {
    if (i % 501 == 500) {
      const std::vector<std::byte> state = saved(session.get());
      session = session_of(model);
      ASSERT_EQ(foxhunt_session_restore(session.get(), state.data(), state.size()), FOXHUNT_OK)
          << foxhunt_last_error();
    }
    const foxhunt_order order = c_order(feed[i]);
    std::vector<float> out(kK);
    ASSERT_EQ(foxhunt_session_on_order(session.get(), &order, out.data(), kK),
              static_cast<std::int32_t>(want[i].status));
    ASSERT_EQ(out, want[i].out) << "event " << i;
  }
}

TEST(CApiOrders, TheOtherKindOfRecordIsABadRecordAndChangesNothing) {
  const ModelHandle books = open_book_model();
  const ModelHandle bars = test::open_model();
  const SessionHandle of_books = session_of(books);
  const SessionHandle of_bars = session_of(bars);
  const foxhunt_bar bar = c_bar(test::a_market().front());
  const foxhunt_order order = c_order(an_order_feed().front());
  std::vector<float> out(kK);
  EXPECT_EQ(foxhunt_session_on_event(of_books.get(), &bar, out.data(), kK), FOXHUNT_BAD_RECORD);
  EXPECT_EQ(foxhunt_session_on_order(of_bars.get(), &order, out.data(), kK), FOXHUNT_BAD_RECORD);
  EXPECT_EQ(saved(of_books.get()), saved(session_of(books).get()));
  EXPECT_EQ(saved(of_bars.get()), saved(session_of(bars).get()));
}

TEST(CApiOrders, BadArgumentsAreRefusedByName) {
  const ModelHandle model = open_book_model();
  const SessionHandle session = session_of(model);
  const foxhunt_order order = c_order(an_order_feed().front());
  foxhunt_order newer = order;
  newer.version = 1;
  std::vector<float> out(kK);
  for (const auto call : {foxhunt_session_on_order, foxhunt_session_answer_order}) {
    EXPECT_EQ(call(nullptr, &order, out.data(), kK), FOXHUNT_E_ARGUMENT);
    EXPECT_EQ(call(session.get(), nullptr, out.data(), kK), FOXHUNT_E_ARGUMENT);
    EXPECT_EQ(call(session.get(), &order, nullptr, kK), FOXHUNT_E_ARGUMENT);
    EXPECT_EQ(call(session.get(), &order, out.data(), kK + 1), FOXHUNT_E_ARGUMENT);
    EXPECT_NE(std::string(foxhunt_last_error()).find("n_out = 4, expected 3"), std::string::npos)
        << foxhunt_last_error();
    EXPECT_EQ(call(session.get(), &newer, out.data(), kK), FOXHUNT_E_ARGUMENT);
    EXPECT_NE(std::string(foxhunt_last_error()).find("version"), std::string::npos);
  }
  EXPECT_EQ(saved(session.get()), saved(session_of(model).get()));
}

}  // namespace
}  // namespace foxhunt::engine
