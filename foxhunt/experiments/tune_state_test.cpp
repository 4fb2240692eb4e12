#include "foxhunt/experiments/tune_state.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/experiments/tune.h"

namespace foxhunt::experiments {
namespace {

using testing::HasSubstr;
using testing::Not;

TuneReport a_report() {
  return {.folder = "runs/search",
          .ranges = {parse_range("train.schedule.lr = log(1e-5, 1e-2)"),
                     parse_range("model.d_state = choice(8, 16)")},
          .rungs = {2, 6},
          .trials = {{.index = 0, .values = {"0.001", "8"}, .rungs = {{2, 1.09, 2, false}}},
                     {.index = 1,
                      .values = {"0.002", "16"},
                      .rungs = {{2, 1.08, 1, false}, {6, 1.07, 5, true}},
                      .weights_sha256 = "abc"},
                     {.index = 2, .values = {"0.01", "8"}, .error = "exit code 5: no <loss>"}},
          .best = 1,
          .failed = 1,
          .counted = "2 sets of weights have been tried"};
}

TEST(TuneState, ComesBackAsItWasWritten) {
  const TuneState state{.config_sha256 = "c", .ranges = {"a"}, .trials = a_report().trials};
  const TuneState back = TuneState::from_json(state.to_json(), "tune.json");
  EXPECT_EQ(back.to_json(), state.to_json());
  EXPECT_EQ(*back.trials[1].loss(), 1.07);
  EXPECT_FALSE(back.trials[2].loss());
  EXPECT_THROW(TuneState::from_json("{\"version\": 1", "tune.json"), FormatError);
  EXPECT_THROW(TuneState::from_json("{\"version\": 9}", "tune.json"), ConfigError);
}

TEST(TuneState, ATrialThatEndedEarlyHasItsResultAtEveryLaterRung) {
  const Trial ended{.rungs = {{2, 1.5, 1, false}, {6, 1.4, 4, true}}};
  EXPECT_TRUE(ended.reached(2));
  EXPECT_TRUE(ended.reached(18));
  EXPECT_EQ(ended.at(2)->loss, 1.5);
  EXPECT_EQ(ended.at(18)->loss, 1.4);
  const Trial going{.rungs = {{2, 1.5, 1, false}}};
  EXPECT_FALSE(going.reached(6));
  EXPECT_EQ(going.at(6), nullptr);
  const Trial failed{.rungs = {{2, 1.5, 1, false}}, .error = "x"};
  EXPECT_EQ(failed.at(2), nullptr);
}

TEST(TuneReport, TablesShowTheBestFirstAndTheFailedByName) {
  const std::string text = to_text(a_report());
  EXPECT_LT(text.find("002"), text.find("001"));
  EXPECT_THAT(text, HasSubstr("2 settings were looked at, 1 more failed"));
  EXPECT_THAT(text, HasSubstr("trial 003 failed: exit code 5"));
  EXPECT_THAT(text, HasSubstr("test part was not read"));
  EXPECT_THAT(text, HasSubstr("best.toml"));
  EXPECT_THAT(to_json(a_report()), HasSubstr("\"looked_at\": 2"));
}

TEST(TuneReport, ThePictureHasAPanelForTheTrialsAndOneForEachRange) {
  const std::string svg = to_svg(a_report());
  EXPECT_THAT(svg, HasSubstr("train.schedule.lr (logarithmic)"));
  EXPECT_THAT(svg, HasSubstr("model.d_state"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  std::size_t dots = 0;
  for (std::size_t at = svg.find("<circle"); at != std::string::npos;
       at = svg.find("<circle", at + 1))
    ++dots;
  EXPECT_EQ(dots, 6U) << "two trials with a loss in three panels";
  TuneReport none = a_report();
  none.trials.erase(none.trials.begin(), none.trials.begin() + 2);
  none.best = {};
  EXPECT_THAT(to_svg(none), HasSubstr("no data"));
  EXPECT_THAT(to_text(none), HasSubstr("0 settings were looked at"));
}

}  // namespace
}  // namespace foxhunt::experiments
