// <foxhunt.h>: what it refuses, with which code and text; never a crash, never an exception.
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <thread>
#include <vector>

#include "foxhunt/engine/c_api_case.h"
#include "foxhunt/engine/foxhunt.h"

namespace foxhunt::engine {
namespace {

using test::bundle_of;
using test::c_bar;
using test::kF;
using test::kK;
using test::ModelHandle;
using test::open_model;
using test::saved;
using test::session_of;
using test::SessionHandle;

TEST(CApi, StepManyRefusesTwiceTheSameSessionAndTwoModels) {
  const ModelHandle model = open_model(1);
  const ModelHandle other = open_model(2);
  const SessionHandle a = session_of(model), b = session_of(model), c = session_of(other);
  std::vector<float> rows(3 * kF, 0.5F), out(3 * kK);
  std::vector<std::int32_t> statuses(3);
  const std::vector<std::byte> before = saved(a.get());
  const auto run = [&](std::vector<foxhunt_session*> all) {
    return foxhunt_step_many(all.data(), all.size(), rows.data(), all.size() * kF, out.data(),
                             all.size() * kK, statuses.data());
  };
  EXPECT_EQ(run({a.get(), b.get(), a.get()}), FOXHUNT_E_ARGUMENT);
  EXPECT_NE(std::string(foxhunt_last_error()).find("twice"), std::string::npos);
  EXPECT_EQ(run({a.get(), c.get()}), FOXHUNT_E_ARGUMENT);
  EXPECT_NE(std::string(foxhunt_last_error()).find("two models"), std::string::npos);
  EXPECT_EQ(run({a.get(), nullptr}), FOXHUNT_E_ARGUMENT);
  EXPECT_EQ(saved(a.get()), before);
  EXPECT_EQ(run({a.get(), b.get()}), FOXHUNT_OK);  // a refusal leaves no mark behind
  EXPECT_NE(saved(a.get()), before);
  EXPECT_EQ(foxhunt_step_many(nullptr, 0, nullptr, 0, nullptr, 0, nullptr), FOXHUNT_OK);
}

TEST(CApi, RefusesAStateOfAnotherModelOrCutShortAndABufferTooSmall) {
  const ModelHandle model = open_model(1), other = open_model(2);
  const SessionHandle session = session_of(model), stranger = session_of(other);
  const std::vector<std::byte> state = saved(session.get());
  EXPECT_EQ(foxhunt_session_restore(stranger.get(), state.data(), state.size()), FOXHUNT_E_FORMAT);
  EXPECT_NE(std::string(foxhunt_last_error()).find("model"), std::string::npos);
  for (std::size_t n = 0; n < state.size(); n += 7)
    ASSERT_EQ(foxhunt_session_restore(session.get(), state.data(), n), FOXHUNT_E_FORMAT);
  std::vector<std::byte> small(state.size() - 1);
  std::size_t size = 0;
  EXPECT_EQ(foxhunt_session_save(session.get(), small.data(), small.size(), &size),
            FOXHUNT_E_BUFFER);
  EXPECT_EQ(size, state.size());
}

TEST(CApi, NullsAndWrongSizesAreErrorsOfTheirOwn) {
  const ModelHandle model = open_model();
  const SessionHandle session = session_of(model);
  const foxhunt_bar bar = c_bar(test::a_market().front());
  float out[kK] = {};
  double meaning[kK] = {};
  const float row[kF] = {};
  std::size_t size = 0;
  foxhunt_model* m = nullptr;
  foxhunt_session* s = nullptr;
  foxhunt_facts facts{};
  foxhunt_session_free(nullptr);
  foxhunt_model_close(nullptr);
  const std::int32_t refused[] = {
      foxhunt_model_open(nullptr, nullptr, &m),
      foxhunt_model_open("x", nullptr, nullptr),
      foxhunt_model_open_memory(nullptr, 3, "x", nullptr, &m),
      foxhunt_model_facts(nullptr, &facts),
      foxhunt_model_facts(model.get(), nullptr),
      foxhunt_model_facts(model.get(), &facts),  // struct_size is 0
      foxhunt_model_verify(nullptr, nullptr),
      foxhunt_model_meaning(nullptr, out, kK, meaning),
      foxhunt_model_meaning(model.get(), out, kK - 1, meaning),
      foxhunt_session_new(nullptr, &s),
      foxhunt_session_new(model.get(), nullptr),
      foxhunt_session_copy(nullptr, &s),
      foxhunt_session_reset(nullptr),
      foxhunt_session_counters(nullptr, nullptr),
      foxhunt_session_counters(session.get(), nullptr),
      foxhunt_session_on_event(nullptr, &bar, out, kK),
      foxhunt_session_on_event(session.get(), nullptr, out, kK),
      foxhunt_session_on_event(session.get(), &bar, nullptr, kK),
      foxhunt_session_on_event(session.get(), &bar, out, kK - 1),
      foxhunt_session_answer(nullptr, &bar, out, kK),
      foxhunt_session_advance(nullptr),
      foxhunt_session_step(nullptr, row, kF, out, kK),
      foxhunt_session_step(session.get(), nullptr, kF, out, kK),
      foxhunt_session_step(session.get(), row, kF - 1, out, kK),
      foxhunt_session_step(session.get(), row, kF, out, kK + 1),
      foxhunt_step_many(nullptr, 1, row, kF, out, kK, nullptr),
      foxhunt_session_save(nullptr, nullptr, 0, &size),
      foxhunt_session_save(session.get(), nullptr, 0, nullptr),
      foxhunt_session_restore(nullptr, out, 1),
      foxhunt_session_restore(session.get(), nullptr, 0),
  };
  std::size_t i = 0;
  for (const std::int32_t code : refused)
    EXPECT_EQ(code, FOXHUNT_E_ARGUMENT) << "call " << i++ << " of the list";
  EXPECT_EQ(m, nullptr);
  foxhunt_bar later = bar;
  later.version = 1;
  EXPECT_EQ(foxhunt_session_on_event(session.get(), &later, out, kK), FOXHUNT_E_ARGUMENT);
}

TEST(CApi, FailuresToOpenHaveACodeAndATextEach) {
  foxhunt_model* model = nullptr;
  EXPECT_EQ(foxhunt_model_open("no/such.fox", nullptr, &model), FOXHUNT_E_IO);
  EXPECT_NE(std::string(foxhunt_last_error()).find("no/such.fox"), std::string::npos);
  std::string bytes = bundle_of(1);
  bytes[bytes.size() / 2] ^= 1;
  EXPECT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "b.fox", nullptr, &model),
            FOXHUNT_E_FORMAT);
  EXPECT_NE(std::string(foxhunt_last_error()).find("b.fox"), std::string::npos);
  const std::string& good = bundle_of(1);
  const auto open_with = [&](const char* kernels, const char* weights) {
    const foxhunt_options options{
        .struct_size = sizeof options, .kernels = kernels, .weights = weights};
    return foxhunt_model_open_memory(good.data(), good.size(), nullptr, &options, &model);
  };
  EXPECT_EQ(open_with("sse1", nullptr), FOXHUNT_E_CONFIG);
  EXPECT_NE(std::string(foxhunt_last_error()).find("sse1"), std::string::npos);
  EXPECT_EQ(open_with(nullptr, "fp8"), FOXHUNT_E_ARGUMENT);
  EXPECT_EQ(model, nullptr);
}

TEST(CApi, StructsOfOlderAndNewerProgramsAreRead) {
  const std::string& bytes = bundle_of(1);
  struct Newer {
    foxhunt_options options;
    const char* more;
  } newer{.options = {.struct_size = sizeof newer, .kernels = "", .weights = "bf16"},
          .more = nullptr};
  foxhunt_model* model = nullptr;
  ASSERT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "", &newer.options, &model),
            FOXHUNT_OK);
  const ModelHandle holder(model, foxhunt_model_close);
  newer.more = "what this library cannot do";
  foxhunt_model* none = nullptr;
  EXPECT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "", &newer.options, &none),
            FOXHUNT_E_ARGUMENT);
  struct NewerFacts {
    foxhunt_facts facts;
    std::int64_t more;
  } facts{.facts = {}, .more = 7};
  facts.facts.struct_size = sizeof facts;
  ASSERT_EQ(foxhunt_model_facts(model, &facts.facts), FOXHUNT_OK);
  EXPECT_STREQ(facts.facts.weights, "bf16");
  EXPECT_EQ(facts.more, 0);  // not known here
  foxhunt_facts older{};
  older.struct_size = offsetof(foxhunt_facts, feature_names);
  older.n_outputs = -1;
  older.product = "untouched";
  ASSERT_EQ(foxhunt_model_facts(model, &older), FOXHUNT_OK);
  EXPECT_EQ(older.n_outputs, static_cast<std::int64_t>(kK));
  EXPECT_STREQ(older.product, "untouched");
}

TEST(CApi, KeepsTheErrorTextOfEachThread) {
  foxhunt_session_reset(nullptr);
  const std::string mine = foxhunt_last_error();
  std::string fresh, theirs;
  std::thread other([&] {
    fresh = foxhunt_last_error();
    foxhunt_session_advance(nullptr);
    theirs = foxhunt_last_error();
  });
  other.join();
  EXPECT_EQ(fresh, "");
  EXPECT_NE(theirs, mine);
  EXPECT_EQ(foxhunt_last_error(), mine);
  EXPECT_STREQ(foxhunt_status_text(FOXHUNT_E_VERIFY), "not as proved");
  EXPECT_STREQ(foxhunt_status_text(99), "unknown");
}

}  // namespace
}  // namespace foxhunt::engine
