#include "foxhunt/ledger/trials.h"

#include <gtest/gtest.h>

#include "foxhunt/ledger/temporary_ledger.h"

namespace foxhunt::ledger {
namespace {

Evaluation an_evaluation(const std::string& weights, const char* first = "2013-12-10",
                         const char* last = "2013-12-13") {
  return {.data = {.files = {"f1"}, .product = "ES", .label = "horizon = 10\n"},
          .part = "test",
          .rows = 4000,
          .first = parse_time(first),
          .last = parse_time(last),
          .run = "/runs/one",
          .weights_sha256 = weights,
          .metric = "log_loss",
          .value = 1.07,
          .baseline = "prior",
          .gain = 0.01,
          .standard_error = 0.004,
          .lo = 0.002,
          .hi = 0.018};
}

TEST(Trials, AreSetsOfWeightsAndNotLooks) {
  const test::Folder folder;
  Ledger ledger = Ledger::open_to_write(folder / "ledger.db");
  for (const char* weights : {"a", "b", "a", "c", "a", "b"}) record(ledger, an_evaluation(weights));
  EXPECT_EQ(count_trials(ledger, an_evaluation("c")).trials, 3);
  EXPECT_EQ(evaluations(ledger).size(), 6U) << "every look is kept";
}

TEST(Trials, CountWhereRowsOverlapWhateverThePartIsCalled) {
  const test::Folder folder;
  Ledger ledger = Ledger::open_to_write(folder / "ledger.db");
  record(ledger, an_evaluation("a"));
  Evaluation other = an_evaluation("b", "2013-12-12", "2013-12-20");
  other.part = "valid";
  record(ledger, other);
  record(ledger, an_evaluation("c", "2013-12-14", "2013-12-20"));
  EXPECT_EQ(count_trials(ledger, an_evaluation("a")).trials, 2);
  EXPECT_EQ(count_trials(ledger, an_evaluation("a", "2013-12-13", "2013-12-14")).trials, 3)
      << "a common instant is enough";
  EXPECT_EQ(count_trials(ledger, an_evaluation("a", "2013-12-21", "2013-12-22")).trials, 0);
}

TEST(Trials, OtherFilesContractsAndLabelsAreOtherDataSetsThatAreMentioned) {
  const test::Folder folder;
  Ledger ledger = Ledger::open_to_write(folder / "ledger.db");
  record(ledger, an_evaluation("a"));
  Evaluation e = an_evaluation("b");
  e.data.files = {"f1", "f2"};
  record(ledger, e);
  e = an_evaluation("c");
  e.data.label = "horizon = 20\n";
  record(ledger, e);
  e = an_evaluation("d");
  e.data.symbol = "ESZ3";
  record(ledger, e);
  e = an_evaluation("e");
  e.data.product = "NQ";
  record(ledger, e);
  e = an_evaluation("a");
  e.data.files = {"f2"};
  record(ledger, e);  // counted already
  const TrialCount count = count_trials(ledger, an_evaluation("a"));
  EXPECT_EQ(count.trials, 1);
  EXPECT_EQ(count.related, 3) << "another product is another market";
  EXPECT_EQ(data_sets(evaluations(ledger)).size(), 6U);
}

TEST(Trials, ComeBackAsTheyWereRecorded) {
  const test::Folder folder;
  Ledger ledger = Ledger::open_to_write(folder / "ledger.db");
  Evaluation e = an_evaluation("a");
  e.rank_ic = std::nullopt;
  e.seed = 77;
  e.gain = 1.0 / 3;
  e.run = "/runs/\xff name";  // no UTF-8: kept readable, never an error
  record(ledger, e);
  const Evaluation back = evaluations(ledger).front();
  EXPECT_EQ(back.data.id(), e.data.id());
  EXPECT_EQ(back.first, e.first);
  EXPECT_EQ(*back.gain, 1.0 / 3);
  EXPECT_FALSE(back.rank_ic);
  EXPECT_EQ(back.seed, 77);
  EXPECT_EQ(back.baseline, "prior");
  EXPECT_TRUE(ledger.check().problems.empty());
}

}  // namespace
}  // namespace foxhunt::ledger
