// <foxhunt.h> of the shared library against the C++ engine: same bits, no crash, no exception.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "foxhunt/engine/foxhunt.h"

#include "tests/engine/proven_bundle.h"

namespace foxhunt::engine {
namespace {

using ModelHandle = std::unique_ptr<foxhunt_model, decltype(&foxhunt_model_close)>;
using SessionHandle = std::unique_ptr<foxhunt_session, decltype(&foxhunt_session_free)>;

const std::string& bundle_of(std::uint64_t seed) {
  static const std::string one = bundle::bundle_bytes(test::proven_bundle(1), "one");
  static const std::string two = bundle::bundle_bytes(test::proven_bundle(2), "two");
  return seed == 1 ? one : two;
}

ModelHandle open_model(std::uint64_t seed = 1, const char* weights = nullptr) {
  foxhunt_options options{.struct_size = sizeof options, .kernels = nullptr, .weights = weights};
  foxhunt_model* model = nullptr;
  const std::string& bytes = bundle_of(seed);
  EXPECT_EQ(foxhunt_model_open_memory(bytes.data(), bytes.size(), "a.fox", &options, &model),
            FOXHUNT_OK)
      << foxhunt_last_error();
  return {model, foxhunt_model_close};
}

SessionHandle session_of(const ModelHandle& model) {
  foxhunt_session* session = nullptr;
  EXPECT_EQ(foxhunt_session_new(model.get(), &session), FOXHUNT_OK) << foxhunt_last_error();
  return {session, foxhunt_session_free};
}

foxhunt_bar c_bar(const market::Bar& bar) {
  return {.time_ns = count(bar.start),
          .span_ns = bar.span.count(),
          .open = bar.open.nano,
          .high = bar.high.nano,
          .low = bar.low.nano,
          .close = bar.close.nano,
          .volume = bar.volume,
          .instrument_id = bar.instrument.instrument_id,
          .publisher_id = bar.instrument.publisher_id,
          .version = 0};
}

std::vector<std::byte> saved(const foxhunt_session* session) {
  std::size_t size = 0;
  EXPECT_EQ(foxhunt_session_save(session, nullptr, 0, &size), FOXHUNT_OK);
  std::vector<std::byte> bytes(size);
  EXPECT_EQ(foxhunt_session_save(session, bytes.data(), bytes.size(), &size), FOXHUNT_OK);
  return bytes;
}

constexpr std::size_t kK = 3;
constexpr std::size_t kF = 12;

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
        ASSERT_EQ(std::memcmp(&out[i * kK], one.data(), sizeof(float) * kK), 0);
      }
      ASSERT_EQ(statuses[5], FOXHUNT_BAD_INPUT);
    }
  }
}

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
