// How parts become phases, against closed forms over made-up weights of a step.
#include "foxhunt/train/memory/estimate.h"

#include <gtest/gtest.h>

#include "foxhunt/base/json.h"
#include "foxhunt/kernels/block.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::train {
namespace {

ExperimentConfig configured() {
  ExperimentConfig config;
  config.hyper.train.batch_size = 20;
  config.hyper.train.lanes = 8;
  config.windows.length = 256;
  return config;
}

const DataFacts kData{.rows = 10'000, .longest = 1'380, .source = "made up"};

TEST(StepPlan, CutsABatchAsTheTrainerDoes) {
  ExperimentConfig config = configured();
  StepPlan plan = step_plan(config, kData, false, 2);
  EXPECT_EQ(plan.lanes, 8);
  EXPECT_EQ(plan.threads, 2);
  EXPECT_EQ(plan.slice, 3);  // 20 over 8
  EXPECT_EQ(plan.micro, 3);
  EXPECT_EQ(plan.tokens, 256);

  config.hyper.train.micro_batch = 2;
  config.hyper.train.threads = 3;
  plan = step_plan(config, {.rows = 50, .longest = 50, .source = ""}, false, 2);
  EXPECT_EQ(plan.threads, 3);
  EXPECT_EQ(plan.micro, 2);
  EXPECT_EQ(plan.tokens, 50);  // windows are no longer than their sequence

  config.hyper.train.batch_size = 4;
  EXPECT_EQ(step_plan(config, kData, false, 16).lanes, 4);  // one a window at most
  config.hyper.train.kernels = nn::Kernels::kAten;
  EXPECT_EQ(step_plan(config, kData, false, 16).lanes, 1);
  config.hyper.train.kernels = nn::Kernels::kNative;
  EXPECT_EQ(step_plan(config, kData, true, 16).lanes, 1);
}

StepWeight made_up_weight() {
  return {.model_and_optimizer = 1'000'000'000,
          .gradients = 100'000'000,
          .kept = 700'000'000,
          .kept_a_layer = 300'000'000,
          .step = 900'000'000,
          .later_step = 950'000'000,
          .update = 0,
          .validation = 50'000'000,
          .health = 70'000'000};
}

const MemoryPhase& phase(const MemoryEstimate& e, const std::string& name) {
  for (const MemoryPhase& one : e.phases) {
    if (one.name == name) return one;
  }
  throw std::out_of_range(name);
}

std::int64_t part(const MemoryEstimate& e, const std::string& name) {
  for (const MemoryPart& one : e.parts) {
    if (one.name == name) return one.bytes;
  }
  throw std::out_of_range(name);
}

TEST(Estimate, AddsUpLanesThatRunAndLanesThatAreDone) {
  ExperimentConfig config = configured();
  const StepPlan plan = step_plan(config, kData, false, 2);
  const StepWeight w = made_up_weight();
  MemoryEstimate e = compose_estimate(config, plan, kData, 20, false, w, {});
  const std::int64_t best = 4 * e.parameters;
  EXPECT_EQ(phase(e, "training step").allocator,
            w.model_and_optimizer + best + 6 * w.gradients + 2 * w.step);
  EXPECT_EQ(e.allocator_peak(), phase(e, "training step").allocator);
  EXPECT_EQ(phase(e, "validation").allocator, w.model_and_optimizer + best + 2 * w.validation);
  EXPECT_EQ(phase(e, "saving").allocator, w.model_and_optimizer + best);

  config.hyper.train.epochs = 1;  // no best weights beside the model's before the end
  config.hyper.train.micro_batch = 1;
  e = compose_estimate(config, step_plan(config, kData, false, 2), kData, 20, false, w, {});
  EXPECT_EQ(phase(e, "training step").allocator,
            w.model_and_optimizer + 6 * w.gradients + 2 * w.later_step);
}

TEST(Estimate, CountsWhatNoAllocatorSees) {
  const ExperimentConfig config = configured();
  const StepPlan plan = step_plan(config, kData, false, 2);
  const std::int64_t F = 20;
  const MemoryEstimate none = compose_estimate(config, plan, kData, F, false, made_up_weight(), {});
  const MemoryEstimate some = compose_estimate(config, plan, kData, F, false, made_up_weight(),
                                               {.cpu = 1'000, .a_thread = 10, .cuda = 5'000});
  EXPECT_EQ(some.fullest().total - none.fullest().total, 1'010);
  EXPECT_EQ(part(none, "data"), 10'000 * (4 * F + 24 + 15 + 1));
  EXPECT_EQ(part(none, "batch"), 20 * 256 * (4 * F + 16));
  EXPECT_EQ(part(none, "weights"), 4 * none.parameters);
  EXPECT_EQ(part(none, "optimizer"), 8 * none.parameters);
  EXPECT_EQ(part(none, "checkpoint"), 8 * none.parameters);
  EXPECT_EQ(none.parameters, model::parameter_count(config.hyper.model, config.hyper.to_head_config(
                                                                            F, config.label.kind)));
  for (const MemoryPhase& one : none.phases) EXPECT_GE(one.total, one.allocator) << one.name;
}

TEST(Estimate, OnAGpuTheHostIsNotCounted) {
  const ExperimentConfig config = configured();
  const StepWeight w = made_up_weight();
  const StepPlan plan = step_plan(config, kData, true, 2);
  const MemoryEstimate e = compose_estimate(config, plan, kData, 20, true, w, {.cuda = 5'000});
  EXPECT_EQ(part(e, "data"), 0);
  EXPECT_EQ(part(e, "kernels"), 0);
  EXPECT_EQ(phase(e, "training step").total,
            w.model_and_optimizer + 4 * e.parameters + w.step + 5'000);
}

TEST(Estimate, JsonHoldsWhatTheTextShows) {
  const ExperimentConfig config = configured();
  const MemoryEstimate e = compose_estimate(config, step_plan(config, kData, false, 2), kData, 20,
                                            false, made_up_weight(), library_overhead());
  const auto json = nlohmann::json::parse(to_json(e));
  EXPECT_EQ(json["bytes"], e.fullest().total);
  EXPECT_EQ(json["allocator_bytes"], e.allocator_peak());
  EXPECT_EQ(json["parts"].size(), e.parts.size());
  EXPECT_EQ(json["activations_a_layer_and_lane"], 300'000'000);
  const std::string text = to_text(e);
  for (const MemoryPart& one : e.parts) EXPECT_NE(text.find(one.name), std::string::npos);
  EXPECT_NE(text.find("made up"), std::string::npos);
}

TEST(DataFacts, AssumesOnlyWhatItCannotCountAndSaysSo) {
  ExperimentConfig config;
  config.data.files = {"no/such/file.csv"};
  DataFacts facts = data_facts(config, 0, 1 << 20);
  EXPECT_EQ(facts.rows, 100'000);
  EXPECT_EQ(facts.longest, 1'380);
  EXPECT_NE(facts.source.find("assumed"), std::string::npos);
  facts = data_facts(config, 700, 1 << 20);
  EXPECT_EQ(facts.rows, 700);
  EXPECT_EQ(facts.longest, 700);

  config.data.files = {"data/es-sample/es-ohlcv-1m.dbn.zst"};
  facts = data_facts(config, 0, 1 << 20);
  EXPECT_NE(facts.source.find("counted"), std::string::npos);
  EXPECT_GT(facts.rows, 10'000);
  EXPECT_LE(facts.longest, 1'380);
  facts = data_facts(config, 0, 1'000);  // larger than may be read
  EXPECT_NE(facts.source.find("too large"), std::string::npos);
}

}  // namespace
}  // namespace foxhunt::train
