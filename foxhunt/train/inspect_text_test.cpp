// What a person reads of a state.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/train/inspect_test_report.h"

namespace foxhunt::train {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

TEST(InspectText, HasATableALayerAndItsColumnsByRank) {
  const std::string text = to_text(test::small_report());
  EXPECT_THAT(text, HasSubstr("on 2,473 rows of the part 'valid'"));
  EXPECT_THAT(text, ContainsRegex("12,345[ \n]parameters"));
  EXPECT_THAT(text, ContainsRegex("0 +2\\.0e-03 +75 % +50\\.0 % +2 .* 9\\.5\n"));
  EXPECT_THAT(text, HasSubstr("endless"));
  EXPECT_THAT(text, HasSubstr("columns 1=8.0e-04, 0=1.0e-04, 2=1.0e-04"));
  EXPECT_THAT(text,
              HasSubstr("1 of 3 hold half of the importance, 2 hold 90 %, 3 hold 99 %; 0 dead"));
  EXPECT_THAT(text, HasSubstr("columns 2=3.0e-04, 1=2.0e-04, 0=0.0e+00"));
  EXPECT_THAT(text,
              HasSubstr("1 of 3 hold half of the importance, 2 hold 90 %, 2 hold 99 %; 1 dead"));
}

TEST(InspectText, NamesGroupsAndCutsLongLists) {
  InspectReport report = test::small_report();
  report.usage.layers[0].columns.emplace_back(40, nn::ColumnUsage{1e-4, 0.1});
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("columns of group 0 "));
  EXPECT_THAT(text, HasSubstr("and 24 below"));
}

TEST(InspectText, AModelThatUsesNothingIsSaidToBeDead) {
  InspectReport report = test::small_report();
  for (auto& column : report.usage.layers[1].columns[0]) column = {};
  EXPECT_THAT(to_text(report),
              HasSubstr("0 of 3 hold half of the importance, 0 hold 90 %, 0 hold 99 %; 3 dead"));
}

TEST(PruneText, ShowsBeforeAndAfterSideBySide) {
  const std::string text = to_text(test::small_prune());
  EXPECT_THAT(text, ContainsRegex("d_state +3 +2 +-33\\.3 %\n"));
  EXPECT_THAT(text, ContainsRegex("validation loss +1\\.077000 +1\\.077500 +\\+0\\.000500\n"));
  EXPECT_THAT(text, ContainsRegex("bytes a step +7,200 +6,000 +-16\\.7 %\n"));
  EXPECT_THAT(text, HasSubstr("run     runs/b"));
}

}  // namespace
}  // namespace foxhunt::train
