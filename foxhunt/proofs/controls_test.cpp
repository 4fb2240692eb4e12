#include "foxhunt/proofs/controls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/rng.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using test::sample_set;
using testing::HasSubstr;
using train::Sequence;
using train::SequenceSet;
using train::Split;

constexpr double kClip = 5;

const Split& split() {
  static const Split made = train::make_split(test::sample_config().split, sample_set().sequences);
  return made;
}

TEST(Controls, HoldOnTheSample) {
  for (const Verdict& verdict : {prove_no_edge_on_shuffled_labels(sample_set(), split(), kClip, 1),
                                 prove_planted_leak_is_learnt(sample_set(), split(), kClip),
                                 prove_no_column_is_the_answer(sample_set(), 10)}) {
    EXPECT_TRUE(verdict.holds()) << verdict.first->text();
    EXPECT_GT(verdict.compared, 1000);
  }
}

TEST(Controls, AColumnThatReadsTheAnswerFromElsewhereIsTooGood) {
  SequenceSet planted = sample_set();
  Rng rng(1);
  for (Sequence& sequence : planted.sequences) {
    for (std::int64_t t = 0; t < sequence.length(); ++t) {
      const auto i = static_cast<std::size_t>(t);
      sequence.rows[i * static_cast<std::size_t>(sequence.width)] =
          sequence.labels.value[i] + static_cast<float>(rng.normal());
    }
  }
  const Verdict verdict = prove_no_column_is_the_answer(planted, 10);
  ASSERT_FALSE(verdict.holds());
  EXPECT_EQ(verdict.failures, 1);
  EXPECT_THAT(verdict.first->text(), HasSubstr("'ret_1'"));
}

TEST(Controls, ABoundThatIsNotMetFails) {
  const ControlBounds strict{.shuffled_errors = 0, .planted = 1.01, .too_good = -10};
  EXPECT_FALSE(prove_no_edge_on_shuffled_labels(sample_set(), split(), kClip, 1, strict).holds());
  EXPECT_FALSE(prove_planted_leak_is_learnt(sample_set(), split(), kClip, strict).holds());
  EXPECT_FALSE(prove_no_column_is_the_answer(sample_set(), 10, strict).holds());
}

}  // namespace
}  // namespace foxhunt::proofs
