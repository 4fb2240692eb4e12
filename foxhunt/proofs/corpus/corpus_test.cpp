#include "foxhunt/proofs/corpus/corpus.h"

#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "foxhunt/proofs/test_ground.h"

namespace foxhunt::proofs {
namespace {

const CorpusReport& judged() {
  static const CorpusReport report =
      judge_corpus({.bars = std::span(test::sample_bars()).first(5000), .points = 16, .seed = 1});
  return report;
}

TEST(Corpus, HoldsEnoughOfBothKindsUnderDifferentNames) {
  EXPECT_GE(planted_leaks().size(), 15U);
  EXPECT_GE(clean_columns().size(), 15U);
  std::set<std::string> names;
  for (const CorpusEntry& entry : judged().entries) names.insert(entry.name);
  EXPECT_EQ(names.size(), judged().entries.size());
}

TEST(Corpus, EveryPlantedFaultIsCaughtAndNoCleanColumnIsAccused) {
  for (const CorpusEntry& entry : judged().entries) {
    EXPECT_EQ(entry.is_fault, !entry.caught_by.empty())
        << entry.name << " caught by " << fmt::format("{}", fmt::join(entry.caught_by, ", "));
  }
  const CorpusReport& report = judged();
  EXPECT_EQ(report.caught, report.faults);
  EXPECT_EQ(report.false_alarms, 0);
  EXPECT_TRUE(report.verdict().holds());
}

TEST(Corpus, LeaksAreCaughtAsLeaksAndWarmUpFaultsAsSuch) {
  const auto caught = [](const CorpusEntry& entry, const char* proof) {
    return std::ranges::find(entry.caught_by, proof) != entry.caught_by.end();
  };
  std::set<std::string> late;
  for (const PlantedColumn& fault : planted_warm_up_faults()) late.insert(fault.name);
  for (const CorpusEntry& entry : judged().entries) {
    if (!entry.is_fault) continue;
    EXPECT_EQ(caught(entry, "future-poisoning"), !late.contains(entry.name)) << entry.name;
  }
}

TEST(Corpus, CleanColumnsSaySomething) {
  const std::span bars = std::span(test::sample_bars()).first(5000);
  for (const PlantedColumn& column : clean_columns()) {
    const std::vector<float> values = column.function(bars);
    ASSERT_EQ(values.size(), bars.size()) << column.name;
    const auto there = std::ranges::count_if(values, [](float v) { return std::isfinite(v); });
    EXPECT_GT(there, 2000) << column.name;
  }
}

TEST(Corpus, AMissedFaultAndAFalseAlarmBothFailTheVerdict) {
  CorpusReport report = judged();
  report.entries.front().caught_by.clear();
  report.entries.back().caught_by = {"warm-up"};
  const Verdict verdict = report.verdict();
  EXPECT_EQ(verdict.failures, 2);
  EXPECT_NE(verdict.first->what.find(report.entries.front().name), std::string::npos);
}

}  // namespace
}  // namespace foxhunt::proofs
