#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/simulated_market.h"
#include "foxhunt/evaluation/report/text_table.h"

namespace foxhunt::evaluation {
namespace {

using testing::HasSubstr;

TEST(NumberText, KeepsThreeDigitsOfTheLargestBesideIt) {
  EXPECT_EQ(number_text(1.07123456), "1.0712");
  EXPECT_EQ(number_text(0.0213456), "0.0213");
  EXPECT_EQ(number_text(0.00021149), "0.000211");
  EXPECT_EQ(number_text(2.1149e-5), "2.11e-05");
  EXPECT_EQ(number_text(0.0002, 1.07), "0.0002");
  EXPECT_EQ(number_text(123.456), "123.46");
  EXPECT_EQ(number_text(-98765.4321), "-98765.4");
  EXPECT_EQ(number_text(0), "0.0000");
  EXPECT_EQ(number_text(-1e-9, 1), "0.0000");  // no minus zero
  EXPECT_EQ(signed_number_text(0.0003, 0.1), "+0.0003");
  EXPECT_EQ(signed_number_text(-0.0003, 0.1), "-0.0003");
  EXPECT_EQ(signed_number_text(0, 0.1), "0.0000");
  EXPECT_EQ(count_text(0), "0");
  EXPECT_EQ(count_text(999), "999");
  EXPECT_EQ(count_text(1234567), "1,234,567");
}

TEST(TextTable, AlignsColumnsAndWrapsThoseThatDoNotFit) {
  EXPECT_EQ(text_table({{"", "a", "long"}, {"name", "1.5", "2"}}),
            "        a  long\n"
            "name  1.5     2\n");
  EXPECT_EQ(text_table({{"x", "aaaa", "bbbb", "cccc"}, {"row", "1", "2", "3"}}, 16),
            "x    aaaa  bbbb\n"
            "row     1     2\n"
            "\n"
            "x    cccc\n"
            "row     3\n");
  EXPECT_EQ(text_table({{"é", "1"}, {"ab", "2"}}),
            "é   1\nab  2\n");  // a letter of two bytes is one column
  EXPECT_EQ(text_table({}), "");
}

TEST(Wrap, BreaksAtSpacesAndIndentsTheRest) {
  EXPECT_EQ(wrap("- one two three", 2, 9), "- one two\n  three\n");
  EXPECT_EQ(wrap("unbreakablelongword next", 0, 5), "unbreakablelongword\nnext\n");
  EXPECT_EQ(wrap("", 0), "\n");
}

TEST(ReportText, FitsATerminalAndEndsWithTheVerdict) {
  const SimulatedMarket m(2000, 300, 1);
  Baselines b{{m.knowing_nothing("prior"), SimulatedMarket::knowing("persistence", m.other)},
              {std::string(150, 'n')}};
  b.notes.push_back(
      "a note with many words that has to be broken somewhere because it is longer than a hundred "
      "columns");
  for (const char* name : {"logistic", "gru", "another_one", "and_one_more"}) {
    b.forecasts.push_back(SimulatedMarket::knowing(name, m.other));
  }
  const EvaluationReport r =
      evaluate(m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal), b,
               {.resamples = 100}, Rng(1));
  const std::string text = to_text(r);
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool unbreakable = line.find("nnn") != std::string::npos;
    EXPECT_TRUE(unbreakable || line.size() <= 100) << line;
    EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
    EXPECT_EQ(line.find("nan"), std::string::npos) << line;
  }
  EXPECT_THAT(text, HasSubstr("Evaluation on 2,000 rows of 7 sessions, 2024-03-04T14:00:00Z to"));
  for (const char* part :
       {"log_loss", "and_one_more", "rank_ic of prior: n/a, the forecast does not vary", "as flat",
        "2024-03-10", "By UTC hour", "happened"}) {
    EXPECT_THAT(text, HasSubstr(part)) << text;
  }
  EXPECT_GT(text.find("The model shows"), text.find("Verdict\n-------\n"));
}

TEST(Verdict, SpeaksOfTheFewSessionsAndOfCosts) {
  const SimulatedMarket m(2000, 2000, 1);
  const EvaluationReport r = evaluate(
      m.rows, ClassificationTask{}, SimulatedMarket::knowing("model", m.signal),
      {{m.knowing_nothing("prior")}, {}}, {.resamples = 100, .blocks = FixedBlocks{5}}, Rng(1));
  ASSERT_EQ(r.verdict.lines.size(), 5U);
  EXPECT_THAT(r.verdict.lines[0],
              testing::MatchesRegex(
                  "The model shows an edge: log_loss 1\\.0[0-9]+ against 1\\.0[0-9]+ of prior, the "
                  "best baseline: difference -0\\.0[0-9]+, 95 % interval -0\\.0[0-9]+ to "
                  "-0\\.0[0-9]+\\."));
  EXPECT_THAT(r.verdict.lines[1], HasSubstr("accuracy"));
  EXPECT_THAT(r.verdict.lines[2], HasSubstr("away from zero; no baseline has a value"));
  EXPECT_THAT(r.verdict.lines[3], HasSubstr("1 session of data"));
  EXPECT_THAT(r.verdict.lines[4], HasSubstr("costs and fills are not in it"));
}

}  // namespace
}  // namespace foxhunt::evaluation
