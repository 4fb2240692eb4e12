// Counts allocations, the shared library's included: its calls of operator new find the one that
// this program replaces.
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "foxhunt/engine/foxhunt.h"
#include "foxhunt/latency/count_allocations.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine {
namespace {

using latency::thread_allocations;

TEST(CApiAllocation, TheHotPathTakesNoMemory) {
  const std::string bytes = bundle::bundle_bytes(test::proven_bundle(), "a.fox");
  foxhunt_model* model = nullptr;
  ASSERT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "a.fox", nullptr, &model),
            FOXHUNT_OK);
  std::array<foxhunt_session*, 6> sessions{};
  const std::int64_t before_sessions = thread_allocations();
  for (foxhunt_session*& s : sessions) ASSERT_EQ(foxhunt_session_new(model, &s), FOXHUNT_OK);
  ASSERT_GT(thread_allocations(), before_sessions);  // the library's are counted

  std::vector<foxhunt_bar> bars;
  for (const market::Bar& bar : test::a_market()) {
    bars.push_back({.time_ns = count(bar.start),
                    .span_ns = bar.span.count(),
                    .open = bar.open.nano,
                    .high = bar.high.nano,
                    .low = bar.low.nano,
                    .close = bar.close.nano,
                    .volume = bar.volume,
                    .instrument_id = 1,
                    .publisher_id = 1,
                    .version = 0});
  }
  foxhunt_facts facts{};
  facts.struct_size = sizeof facts;
  ASSERT_EQ(foxhunt_model_facts(model, &facts), FOXHUNT_OK);
  const auto F = static_cast<std::size_t>(facts.n_features);
  const auto K = static_cast<std::size_t>(facts.n_outputs);
  const std::vector<float> rows(sessions.size() * F, 0.5F);
  std::vector<float> out(sessions.size() * K);
  std::array<std::int32_t, sessions.size()> statuses{};
  std::int64_t ready = 0;

  const std::int64_t before = thread_allocations();
  for (const foxhunt_bar& bar : bars) {
    ready += foxhunt_session_on_event(sessions[0], &bar, out.data(), K) == FOXHUNT_READY;
    foxhunt_session_answer(sessions[1], &bar, out.data(), K);
    foxhunt_session_advance(sessions[1]);
    foxhunt_session_step(sessions[2], rows.data(), F, out.data(), K);
    foxhunt_step_many(sessions.data(), sessions.size(), rows.data(), rows.size(), out.data(),
                      out.size(), statuses.data());
    foxhunt_session_advance(nullptr);  // a refusal neither
  }
  foxhunt_session_reset(sessions[0]);
  EXPECT_EQ(thread_allocations() - before, 0);
  EXPECT_GT(ready, 100);

  for (foxhunt_session* s : sessions) foxhunt_session_free(s);
  foxhunt_model_close(model);
}

}  // namespace
}  // namespace foxhunt::engine
