// <foxhunt.h> of the shared library against the C++ engine: the same bits.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "foxhunt/engine/c_api_case.h"
#include "foxhunt/engine/foxhunt.h"

namespace foxhunt::engine {
namespace {

using test::c_bar;
using test::kF;
using test::kK;
using test::ModelHandle;
using test::open_model;
using test::saved;
using test::session_of;
using test::SessionHandle;

TEST(CApi, IsTestedInTheSharedLibrary) {
  Dl_info info{};
  ASSERT_NE(dladdr(reinterpret_cast<const void*>(&foxhunt_model_open), &info), 0);
  EXPECT_NE(std::string(info.dli_fname).find("libfoxhunt_engine.so"), std::string::npos)
      << info.dli_fname;
  EXPECT_EQ(foxhunt_abi_version(), FOXHUNT_ABI_VERSION);
  EXPECT_EQ(std::string(foxhunt_version()).find_first_not_of("0123456789."), std::string::npos);
  EXPECT_NE(std::string(foxhunt_revision()), "");
}

TEST(CApi, GivesTheFactsOfTheModel) {
  const ModelHandle model = open_model();
  foxhunt_facts facts{};
  facts.struct_size = sizeof facts;
  ASSERT_EQ(foxhunt_model_facts(model.get(), &facts), FOXHUNT_OK);
  const auto plan = Plan::build(test::proven_bundle(1));
  ASSERT_EQ(facts.n_features, plan->n_features());
  ASSERT_EQ(facts.n_features, static_cast<std::int64_t>(kF));
  ASSERT_EQ(facts.n_outputs, static_cast<std::int64_t>(kK));
  for (std::size_t i = 0; i < kF; ++i)
    EXPECT_EQ(facts.feature_names[i], plan->bundle().context.schema.columns[i].name);
  EXPECT_STREQ(facts.output_names[0], "down");
  EXPECT_STREQ(facts.output_names[2], "up");
  EXPECT_STREQ(facts.product, "ES");
  EXPECT_STREQ(facts.weights, "fp32");
  EXPECT_EQ(facts.model_id, plan->model_id());
  EXPECT_EQ(facts.kernels, plan->kernels());
  EXPECT_EQ(facts.bytes_per_step, plan->bytes_per_step());
  EXPECT_EQ(facts.bar_ns, 60'000'000'000);
  EXPECT_EQ(facts.warm_up, 9);
  EXPECT_EQ(std::string(facts.file_id).size(), 64U);
  EXPECT_NE(std::string(facts.certificate_json).find("\"max_difference\""), std::string::npos);
  EXPECT_NE(std::string(facts.training_json).find("epochs"), std::string::npos);
  EXPECT_STREQ(facts.latency_json, "");
}

TEST(CApi, AnswersEveryBarWithTheEnginesBits) {
  const ModelHandle model = open_model();
  const SessionHandle whole = session_of(model);
  const SessionHandle halves = session_of(model);
  const std::vector<market::Bar> bars = test::a_market();
  const auto want = test::answers_of(Plan::build(test::proven_bundle(1)), bars);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const foxhunt_bar bar = c_bar(bars[i]);
    std::vector<float> out(kK);
    ASSERT_EQ(foxhunt_session_on_event(whole.get(), &bar, out.data(), kK),
              static_cast<std::int32_t>(want[i].status));
    ASSERT_EQ(out, want[i].out) << "bar " << i;
    std::vector<float> first(kK);
    ASSERT_EQ(foxhunt_session_answer(halves.get(), &bar, first.data(), kK),
              static_cast<std::int32_t>(want[i].status));
    ASSERT_EQ(first, out);
    if (i % 3 != 0) {
      ASSERT_EQ(foxhunt_session_advance(halves.get()), FOXHUNT_OK);
    }
  }
  EXPECT_EQ(saved(whole.get()), saved(halves.get()));
  foxhunt_counters counters{};
  counters.struct_size = sizeof counters;
  ASSERT_EQ(foxhunt_session_counters(whole.get(), &counters), FOXHUNT_OK);
  EXPECT_EQ(counters.bars, static_cast<std::int64_t>(bars.size()));
  EXPECT_EQ(counters.bars, counters.ready + counters.warming_up + counters.closed +
                               counters.bad_record + counters.out_of_order);
  EXPECT_EQ(counters.bad_record, 1);
  EXPECT_EQ(counters.out_of_order, 1);
  EXPECT_EQ(counters.sequences, 3);
  EXPECT_GT(counters.position, 0);
}

TEST(CApi, BarsOfAnyBitsAreAStatus) {
  const ModelHandle model = open_model();
  const SessionHandle session = session_of(model);
  const std::vector<market::Bar> bars = test::a_market();
  Rng rng(3);
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  const std::int64_t extremes[] = {0, 1, -1, kMost, kMost - 1, kLeast, kLeast + 1};
  for (int round = 0; round < 3000; ++round) {
    foxhunt_bar bar = c_bar(bars[rng.below(bars.size())]);
    std::int64_t* fields[] = {&bar.time_ns, &bar.span_ns, &bar.open,
                              &bar.high,    &bar.low,     &bar.close};
    *fields[rng.below(6)] = extremes[rng.below(7)];
    if (round % 5 == 0) bar.volume = ~std::uint64_t{0} - rng.below(2);
    float out[kK] = {};
    const std::int32_t status = foxhunt_session_on_event(session.get(), &bar, out, kK);
    ASSERT_GE(status, FOXHUNT_READY);
    ASSERT_LE(status, FOXHUNT_BAD_INPUT);
    for (const float v : out) ASSERT_TRUE(std::isfinite(v));
  }
}

TEST(CApi, VerifiesAndSaysWhatDiffers) {
  foxhunt_report report{};
  report.struct_size = sizeof report;
  EXPECT_EQ(foxhunt_model_verify(open_model().get(), &report), FOXHUNT_OK);
  EXPECT_EQ(report.ok, 1);
  EXPECT_GT(report.rows, 100);
  EXPECT_EQ(report.decision_flips, 0);
  EXPECT_LE(report.max_difference, report.bound_difference);
  EXPECT_STREQ(report.what, "");
  EXPECT_EQ(foxhunt_model_verify(open_model().get(), nullptr), FOXHUNT_OK);

  bundle::Bundle changed = test::proven_bundle(1);
  for (float& v : changed.golden.outputs) v += 0.01F;
  const std::string bytes = bundle::bundle_bytes(changed, "changed");
  foxhunt_model* model = nullptr;
  ASSERT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), nullptr, nullptr, &model),
            FOXHUNT_OK);
  const ModelHandle holder(model, foxhunt_model_close);
  EXPECT_EQ(foxhunt_model_verify(model, &report), FOXHUNT_E_VERIFY);
  EXPECT_EQ(report.ok, 0);
  EXPECT_GT(report.max_difference, report.bound_difference);
  EXPECT_NE(std::string(report.what).find("largest difference"), std::string::npos);
  EXPECT_STREQ(foxhunt_last_error(), report.what);
}

TEST(CApi, StepManyGivesTheBitsOfEachAlone) {
  for (const char* weights : {"fp32", "fp16", "bf16", "int8"}) {
    const ModelHandle model = open_model(1, weights);
    constexpr std::size_t kN = 11;  // more than one batch of kernels and a rest
    std::vector<SessionHandle> alone, together;
    std::vector<foxhunt_session*> handles;
    for (std::size_t i = 0; i < kN; ++i) {
      alone.push_back(session_of(model));
      together.push_back(session_of(model));
      handles.push_back(together.back().get());
    }
    Rng rng(4);
    for (int t = 0; t < 10; ++t) {
      std::vector<float> rows(kN * kF);
      for (float& v : rows) v = static_cast<float>(rng.uniform(-3, 3));
      rows[5 * kF] = std::numeric_limits<float>::quiet_NaN();
      std::vector<float> out(kN * kK, 9.0F);
      std::vector<std::int32_t> statuses(kN, -1);
      ASSERT_EQ(foxhunt_step_many(handles.data(), kN, rows.data(), rows.size(), out.data(),
                                  out.size(), statuses.data()),
                FOXHUNT_OK);
      for (std::size_t i = 0; i < kN; ++i) {
        std::vector<float> one(kK, 9.0F);
        ASSERT_EQ(foxhunt_session_step(alone[i].get(), &rows[i * kF], kF, one.data(), kK),
                  statuses[i]);
        ASSERT_EQ(std::vector<float>(&out[i * kK], &out[i * kK] + kK), one);
      }
      ASSERT_EQ(statuses[5], FOXHUNT_BAD_INPUT);
    }
  }
}

TEST(CApi, GoesOnFromASavedStateWithTheSameBits) {
  ModelHandle model = open_model();
  SessionHandle whole = session_of(model);
  const std::vector<market::Bar> bars = test::a_market();
  const auto step = [](foxhunt_session* session, const market::Bar& bar) {
    const foxhunt_bar b = c_bar(bar);
    std::vector<float> out(kK);
    foxhunt_session_on_event(session, &b, out.data(), kK);
    return out;
  };
  for (std::size_t i = 0; i < 70; ++i) step(whole.get(), bars[i]);
  const std::vector<std::byte> state = saved(whole.get());
  SessionHandle restored = session_of(model);
  ASSERT_EQ(foxhunt_session_restore(restored.get(), state.data(), state.size()), FOXHUNT_OK);
  foxhunt_session* raw = nullptr;
  ASSERT_EQ(foxhunt_session_copy(whole.get(), &raw), FOXHUNT_OK);
  const SessionHandle copy(raw, foxhunt_session_free);
  model.reset();  // a session outlives its model
  for (std::size_t i = 70; i < bars.size(); ++i) {
    const std::vector<float> want = step(whole.get(), bars[i]);
    ASSERT_EQ(step(restored.get(), bars[i]), want);
    ASSERT_EQ(step(copy.get(), bars[i]), want);
  }
  ASSERT_EQ(foxhunt_session_reset(whole.get()), FOXHUNT_OK);
  const ModelHandle again = open_model();
  EXPECT_EQ(saved(whole.get()), saved(session_of(again).get()));
}

TEST(CApi, GivesTheMeaningOfAnAnswer) {
  const ModelHandle model = open_model();
  const float logits[kK] = {1.0F, 2.0F, 3.0F};
  double p[kK] = {};
  ASSERT_EQ(foxhunt_model_meaning(model.get(), logits, kK, p), FOXHUNT_OK);
  // softmax in closed form; doubles, three terms: a few ulps.
  EXPECT_NEAR(p[2], 1.0 / (1.0 + std::exp(-1.0) + std::exp(-2.0)), 1e-15);
  EXPECT_NEAR(p[0] + p[1] + p[2], 1.0, 1e-15);
}

}  // namespace
}  // namespace foxhunt::engine
