// Everything at once on the shipped sample, as `foxhunt features prove` does it.
#include "foxhunt/proofs/prove.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/experiments/fold_plan.h"
#include "foxhunt/proofs/test_ground.h"
#include "foxhunt/proofs/training_rows.h"
#include "foxhunt/train/proof_subject.h"

namespace foxhunt::proofs {
namespace {

TEST(Prove, TheSampleIsProvenAndTheFileSaysSo) {
  const train::ExperimentConfig config = test::sample_config();
  const ProofReport report = prove(config, {.points = 24});
  EXPECT_TRUE(report.proven()) << report.first();
  EXPECT_EQ(report.verdicts.size(), 12U);
  EXPECT_EQ(report.left_out, 0);
  EXPECT_GT(report.corpus.faults, 0);
  fmt::print("{}", to_text(report));

  const std::string file = to_json(report);
  const bundle::LeakProof proof = bundle::parse_leak_proof(file, "leakproof.json");
  EXPECT_TRUE(proof.proven);
  EXPECT_EQ(proof.first, "");
  const auto here = train::proof_subject(config, train::data_hashes(config));
  EXPECT_TRUE(bundle::differences(proof.subject, here).empty());
  EXPECT_EQ(proof.subject.data,
            std::vector<std::string>{sha256_of_file("data/es-sample/es-ohlcv-1m.dbn.zst")});

  train::ExperimentConfig other = config;
  other.label.horizon = 11;
  other.split.embargo_minutes = 0;
  other.features.return_spans.pop_back();
  EXPECT_THAT(
      bundle::differences(proof.subject, train::proof_subject(other, train::data_hashes(other))),
      testing::SizeIs(4));  // schema, features, label, split
}

TEST(Prove, OneProofSpeaksOfEveryFoldOfAWalkForward) {
  train::ExperimentConfig config = test::sample_config();
  config.walkforward = {.train = 6, .valid = 1, .test = 2};
  const auto proof = bundle::parse_leak_proof(
      to_json(prove(config, {.points = 4, .random_splits = 2})), "leakproof.json");
  const train::SequenceSet set = TrainingRows(config.data.product, config.features, config.label)
                                     .sequences(usable_bars(config).bars);
  const auto plan =
      experiments::plan_folds(config.walkforward, experiments::day_starts(set.sequences));
  EXPECT_GE(plan.folds.size(), 3U);
  train::ExperimentConfig fold = config.single_run();
  for (const experiments::Fold& one : plan.folds) {
    fold.split = one.to_split(config.split);
    EXPECT_THAT(bundle::differences(proof.subject, train::proof_subject(fold, proof.subject.data)),
                testing::IsEmpty());
  }
  fold.split.valid_end = fold.split.train_end;
  EXPECT_THAT(bundle::differences(proof.subject, train::proof_subject(fold, proof.subject.data)),
              testing::SizeIs(1));
}

TEST(Prove, ALeakIsInTheFileWithItsFirstCounterexample) {
  ProofReport report;
  report.verdicts = {{.name = "future-poisoning"}};
  EXPECT_TRUE(report.proven());
  report.verdicts.front().fail({.column = "features.ret_1",
                                .t = parse_time("2013-10-08T10:00"),
                                .at = parse_time("2013-10-08T10:00"),
                                .before = "0.5",
                                .after = "0.75",
                                .what = "other prices and sizes after"});
  EXPECT_FALSE(report.proven());
  EXPECT_EQ(report.first(),
            "future-poisoning: features.ret_1 at 2013-10-08T10:00:00Z: 0.5 became 0.75; other "
            "prices and sizes after 2013-10-08T10:00:00Z");
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_FALSE(json.at("proven").get<bool>());
  EXPECT_EQ(json.at("proofs").at(0).at("first").at("column"), "features.ret_1");
  EXPECT_FALSE(bundle::parse_leak_proof(to_json(report), "leakproof.json").proven);
}

}  // namespace
}  // namespace foxhunt::proofs
