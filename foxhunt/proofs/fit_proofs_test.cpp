// The real split and normaliser hold; a fault of each kind that real projects had is caught.
#include "foxhunt/proofs/fit_proofs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

using test::sample_set;
using testing::HasSubstr;
using train::Part;
using train::Sequence;
using train::SequenceSet;
using train::Split;

constexpr double kClip = 5;

const std::vector<NamedSplit>& splits() {
  static const std::vector<NamedSplit> found =
      splits_of(test::sample_config(), sample_set(), 4, Rng(3));
  return found;
}

Ground ground() { return {.bars = test::sample_bars(), .points = 4, .seed = 5}; }

TEST(FitProofs, RunOverTheConfiguredSplitFoldsAndRandomOnes) {
  EXPECT_EQ(splits().front().name, "configured");
  const auto named = [](const char* name) {
    return std::ranges::count_if(splits(),
                                 [&](const NamedSplit& s) { return s.name.starts_with(name); });
  };
  EXPECT_GE(named("fold"), 2);
  EXPECT_EQ(named("random"), 4);
}

TEST(FitProofs, SplitNormaliserAndWindowsOfTrainingHold) {
  const Verdict fit =
      prove_normalizer_fit(test::sample_source(), sample_set(), splits(), ground(), kClip);
  EXPECT_TRUE(fit.holds()) << fit.first->text();
  EXPECT_EQ(fit.tries, std::ssize(splits()));
  const Verdict purge = prove_purge(sample_set(), splits(), ground());
  EXPECT_TRUE(purge.holds()) << purge.first->text();
  EXPECT_GE(purge.compared, 1'000'000);
  for (const train::WindowConfig windows :
       {train::WindowConfig{}, train::WindowConfig{.length = 33, .burn_in = 8, .stride = 7}}) {
    const Verdict verdict = prove_windows(
        sample_set(), splits(),
        {.windows = windows, .clip = kClip, .longest_hole = std::chrono::minutes{30}});
    EXPECT_TRUE(verdict.holds()) << verdict.first->text();
  }
}

TEST(FitProofs, AScaleFittedOnAllRowsIsCaught) {
  const Machinery on_all{.fit_normalizer = [](const SequenceSet& set, const Split&, double clip) {
    features::NormalizerFit fit(set.schema, {UnixNanos::min(), UnixNanos::max()});
    for (const Sequence& sequence : set.sequences) {
      for (std::int64_t t = 0; t < sequence.length(); ++t)
        fit.add(sequence.available_at[static_cast<std::size_t>(t)], sequence.row(t));
    }
    return fit.finish(clip);
  }};
  const Verdict verdict =
      prove_normalizer_fit(test::sample_source(), sample_set(), splits(), ground(), kClip, on_all);
  EXPECT_EQ(verdict.failures, 2 * verdict.tries);
}

TEST(FitProofs, AScaleFittedOnPurgedRowsTooIsCaught) {
  const Machinery generous{
      .fit_normalizer = [](const SequenceSet& set, const Split& split, double clip) {
        features::NormalizerFit fit(set.schema, {UnixNanos::min(), UnixNanos::max()});
        for (std::size_t s = 0; s < set.sequences.size(); ++s) {
          const Sequence& sequence = set.sequences[s];
          for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
            if (split.parts[s][t] == Part::kTrain || split.parts[s][t] == Part::kPurged)
              fit.add(sequence.available_at[t], sequence.row(static_cast<std::int64_t>(t)));
          }
        }
        return fit.finish(clip);
      }};
  EXPECT_FALSE(
      prove_normalizer_fit(test::sample_source(), sample_set(), splits(), ground(), kClip, generous)
          .holds());
}

/// The real split, with some purged rows given back.
template <class Keep>
Machinery giving_back(Keep keep) {
  return {.make_split = [keep](train::SplitConfig config, std::span<const Sequence> sequences) {
    Split split = train::make_split(std::move(config), sequences);
    for (std::size_t s = 0; s < sequences.size(); ++s) {
      for (std::size_t t = 0; t < split.parts[s].size(); ++t) {
        if (split.parts[s][t] != Part::kPurged || !keep(split, sequences[s], t)) continue;
        const bool early = sequences[s].available_at[t] < split.train_end;
        split.parts[s][t] = early ? Part::kTrain : Part::kValid;
      }
    }
    return split;
  }};
}

TEST(FitProofs, ASplitWithoutPurgeIsCaught) {
  const Machinery none = giving_back([](auto&&...) { return true; });
  const Verdict verdict = prove_purge(sample_set(), splits(), ground(), none);
  ASSERT_FALSE(verdict.holds());
}

TEST(FitProofs, ASplitWithoutEmbargoIsCaught) {
  const Machinery touching = giving_back([](const Split& split, const Sequence& s, std::size_t t) {
    const UnixNanos cut = s.available_at[t] < split.train_end ? split.train_end : split.valid_end;
    return s.labels.valid[t] == 0 || s.labels.end[t] < cut;
  });
  const Verdict verdict = prove_purge(sample_set(), splits(), ground(), touching);
  ASSERT_FALSE(verdict.holds());
  EXPECT_THAT(verdict.first->text(), HasSubstr("embargo"));
}

TEST(FitProofs, APurgeByAFixedNumberOfRowsIsCaughtByLabelsOfRandomLength) {
  // Right for every label of the horizon, wrong for longer ones.
  const Machinery fixed = giving_back([](const Split& split, const Sequence& s, std::size_t t) {
    const UnixNanos cut = s.available_at[t] < split.train_end ? split.train_end : split.valid_end;
    return s.available_at[t] + std::chrono::minutes{11} < cut - split.embargo;
  });
  EXPECT_FALSE(prove_purge(sample_set(), splits(), ground(), fixed).holds());
}

TEST(FitProofs, PurgingMoreThanNeededIsCaught) {
  const Machinery greedy{
      .make_split = [](train::SplitConfig config, std::span<const Sequence> sequences) {
        Split split = train::make_split(std::move(config), sequences);
        auto& first = split.parts.front();
        const auto row = std::ranges::find(first, Part::kTrain);
        if (row != first.end()) *row = Part::kPurged;
        return split;
      }};
  const Verdict verdict = prove_purge(sample_set(), splits(), ground(), greedy);
  ASSERT_FALSE(verdict.holds());
  EXPECT_THAT(verdict.first->text(), HasSubstr("without need"));
}

}  // namespace
}  // namespace foxhunt::proofs
