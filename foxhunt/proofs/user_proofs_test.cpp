// An honest library passes every proof; each planted fault is caught by the proofs that are for it.
#include "foxhunt/proofs/user_proofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/features/test_plugins.h"
#include "foxhunt/proofs/prove.h"
#include "foxhunt/proofs/serving_proof.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using features::test::kExample;
using features::test::plugin;
using testing::Contains;
using testing::HasSubstr;

/// Verdicts of everything that looks at rows, as `prove` runs it: the bars have gone through the
/// library before the first proof does.
std::vector<Verdict> judge(const std::string& library) {
  features::FeatureConfig config;
  config.plugins = {library};
  const TrainingRows source("ES", config, {});
  const Ground ground = test::small_ground();
  source.run(test::small_ground().bars);
  return {prove_future_poisoning(source, ground),    prove_prefix_invariance(source, ground),
          prove_batch_is_stream(source, ground),     prove_warm_up(source, ground),
          prove_training_is_serving(source, ground), prove_rows_are_made_again(source, ground),
          prove_streams_are_apart(source, ground),   prove_values_are_finite(source, ground)};
}

/// Names of those that do not hold. Each has to name `column`, since nothing else is at fault.
std::set<std::string> caught(const std::string& library, const std::string& column) {
  std::set<std::string> names;
  for (const Verdict& verdict : judge(library)) {
    EXPECT_GT(verdict.compared, verdict.holds() ? 100 : 0) << verdict.name;
    if (verdict.holds()) continue;
    names.insert(verdict.name);
    EXPECT_EQ(verdict.first->column, "features." + column) << verdict.name;
  }
  return names;
}

TEST(UserProofs, AnHonestLibraryPasses) {
  for (const Verdict& verdict : judge(kExample)) {
    EXPECT_TRUE(verdict.holds()) << verdict.name << ": " << verdict.first->text();
    EXPECT_TRUE(verdict.notes.empty()) << verdict.name << ": " << verdict.notes.front();
    EXPECT_GT(verdict.tries, 0) << verdict.name;
  }
}

TEST(UserProofs, ATableOfWhatEarlierStreamsShowedIsCaught) {
  const auto names = caught(plugin("peeks"), "next_move");
  EXPECT_THAT(names, Contains("training-is-serving"));
  EXPECT_THAT(names, Contains("made-again"));
}

TEST(UserProofs, AWarmUpThatIsUnderstatedIsCaught) {
  EXPECT_EQ(caught(plugin("short_warm_up"), "mean_volume"), std::set<std::string>{"warm-up"});
}

TEST(UserProofs, AStateOutsideOfTheHostsIsCaught) {
  EXPECT_EQ(caught(plugin("own_state"), "move"),
            (std::set<std::string>{"streams-apart", "training-is-serving"}));
}

TEST(UserProofs, AValueThatIsNotFiniteIsCaughtAndNamed) {
  const auto verdicts = judge(plugin("not_finite"));
  const Verdict& verdict = verdicts.back();
  EXPECT_EQ(verdict.name, "finite-values");
  EXPECT_EQ(verdict.failures, 2);
  EXPECT_THAT(verdict.first->column, testing::AnyOf("features.log_range", "features.two"));
  ASSERT_EQ(verdict.notes.size(), 1U);
  EXPECT_THAT(verdict.notes.front(), HasSubstr("not finite: log_range"));
  for (const Verdict& other : verdicts) EXPECT_EQ(other.holds(), &other != &verdict) << other.name;
}

TEST(UserProofs, ARandomNumberIsCaught) {
  const auto names = caught(plugin("random"), "dice");
  EXPECT_THAT(names, Contains("made-again"));
  EXPECT_THAT(names, Contains("prefix-invariance"));
}

TEST(UserProofs, TheFileNamesTheLibraries) {
  train::ExperimentConfig config = test::sample_config();
  config.features.plugins = {kExample};
  const ProofReport report = prove(config, {.points = 8, .random_splits = 2});
  EXPECT_TRUE(report.proven()) << report.first();
  EXPECT_EQ(report.verdicts.size(), 15U);
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json.at("subject").at("libraries"),
            (nlohmann::json::array({{{"name", "user_features"},
                                     {"version", "1.0"},
                                     {"sha256", sha256_of_file(kExample)}}})));
  const bundle::LeakProof proof = bundle::parse_leak_proof(to_json(report), "leakproof.json");
  EXPECT_NE(proof.subject.schema, TrainingRows("ES", {}, {}).pipeline().schema().hash());
}

}  // namespace
}  // namespace foxhunt::proofs
