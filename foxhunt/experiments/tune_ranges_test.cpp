#include "foxhunt/experiments/tune_ranges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/config/config.h"

namespace foxhunt::experiments {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

train::ExperimentConfig a_config(const std::vector<std::string>& ranges) {
  train::ExperimentConfig config;
  config.data.files = {"some.dbn"};
  config.tune.ranges = ranges;
  return config;
}

std::string refusal(const std::vector<std::string>& ranges,
                    train::TuneMethod method = train::TuneMethod::kRandom) {
  train::ExperimentConfig config = a_config(ranges);
  config.tune.method = method;
  try {
    checked_ranges(config);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(TuneRanges, AreReadInEveryKind) {
  const Range log = parse_range("train.schedule.lr = log(1e-5, 1e-2)");
  EXPECT_EQ(log.key, "train.schedule.lr");
  EXPECT_EQ(log.kind, RangeKind::kLog);
  EXPECT_EQ(log.lo, 1e-5);
  EXPECT_EQ(log.hi, 1e-2);
  EXPECT_EQ(parse_range("a=integer( 2,9 )").hi, 9);
  EXPECT_THAT(parse_range(" a = choice(8, \"x, y\", [1, 2]) ").choices,
              ElementsAre("8", "\"x, y\"", "[1, 2]"));
}

TEST(TuneRanges, SayWhatIsWrongWithTheNearestName) {
  EXPECT_THAT(refusal({}), HasSubstr("ranges is empty"));
  EXPECT_THAT(refusal({"train.schedule.lr"}), HasSubstr("is no range"));
  EXPECT_THAT(refusal({"train.schedule.lr = lgo(1, 2)"}), HasSubstr("nearest is 'log'"));
  EXPECT_THAT(refusal({"train.schedul.lr = log(1e-5, 1e-2)"}), HasSubstr("train.schedule.lr"));
  EXPECT_THAT(refusal({"model.d_sate = integer(4, 8)"}), HasSubstr("d_state"));
  EXPECT_THAT(refusal({"model.d_state = integer(4, 100000)"}), HasSubstr("outside"));
  EXPECT_THAT(refusal({"model.d_state = uniform(4, 8.5)"}), HasSubstr("whole number"));
  EXPECT_THAT(refusal({"model.d_state = integer(4.5, 8)"}), HasSubstr("whole numbers"));
  EXPECT_THAT(refusal({"train.schedule.lr = log(0, 1)"}), HasSubstr("above 0"));
  EXPECT_THAT(refusal({"train.schedule.lr = uniform(2, 1)"}), HasSubstr("not below"));
  EXPECT_THAT(refusal({"train.schedule.lr = uniform(1)"}), HasSubstr("lower and an upper"));
  EXPECT_THAT(refusal({"train.schedule.lr = uniform(a, 1)"}), HasSubstr("'a' is not a number"));
  EXPECT_THAT(refusal({"train.precision = choice(\"fp32\", \"fp31\")"}), HasSubstr("fp31"));
  EXPECT_THAT(refusal({"train.schedule.lr = log(1e-5, 1e-2)", "train.schedule.lr = log(1, 2)"}),
              HasSubstr("has a range already"));
  EXPECT_THAT(refusal({"train.epochs = integer(1, 9)"}, train::TuneMethod::kHalving),
              HasSubstr("halving"));
  EXPECT_EQ(refusal({"train.epochs = integer(1, 9)"}), "");
  EXPECT_THAT(refusal({"a.b = log(0, 1)", "c.d = lgo(1, 2)"}),
              AllOf(HasSubstr("a.b"), HasSubstr("c.d")))
      << "everything that is wrong at once";
}

TEST(TuneRanges, KeysThatMakeLossesIncomparableAreRefused) {
  for (const char* key : {"data.product = choice(\"ES\", \"NQ\")", "label.horizon = integer(1, 10)",
                          "split.embargo_minutes = integer(1, 9)", "head.kind = choice(\"auto\")",
                          "train.class_weights = choice(true, false)", "tune.seed = integer(1, 3)"})
    EXPECT_THAT(refusal({key}), HasSubstr("cannot be")) << key;
}

TEST(TuneRanges, NameTheLineOfTheFile) {
  const auto file = std::filesystem::temp_directory_path() /
                    ("foxhunt-ranges-" + std::to_string(::getpid()) + ".toml");
  write_file_atomic(file, "[tune]\nranges = [\n  \"model.d_sate = integer(4, 8)\",\n]\n");
  train::ExperimentConfig config = a_config({"model.d_sate = integer(4, 8)"});
  try {
    checked_ranges(config, {file.string()});
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr(file.string() + ":3: "));
  }
  std::filesystem::remove(file);
}

const std::vector<std::string> kAll{
    "train.schedule.lr = log(1e-5, 1e-2)", "train.optimizer.weight_decay = uniform(0, 2)",
    "model.d_state = integer(4, 7)", "train.batch_size = log_integer(1, 64)",
    "windows.length = choice(64, 128)"};

TEST(TuneRanges, DrawsStayInsideAndReachBothEnds) {
  const std::vector<Range> ranges = checked_ranges(a_config(kAll));
  std::vector<std::set<std::string>> seen(ranges.size());
  for (int i = 0; i < 3000; ++i) {
    const std::vector<std::string> values = draw(ranges, 1, i);
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      seen[r].insert(values[r]);
      if (ranges[r].kind == RangeKind::kChoice) continue;
      EXPECT_GE(std::stod(values[r]), ranges[r].lo);
      EXPECT_LE(std::stod(values[r]), ranges[r].hi);
    }
  }
  EXPECT_EQ(seen[2], (std::set<std::string>{"4", "5", "6", "7"}));
  EXPECT_TRUE(seen[3].contains("1") && seen[3].contains("64"));
  EXPECT_EQ(seen[4], (std::set<std::string>{"64", "128"}));
}

// A logarithmic range spends as many draws on each decade. 3 decades, 3000 draws: 1000 each, within
// five standard deviations of a binomial (26).
TEST(TuneRanges, ALogarithmicRangeIsEvenOverDecades) {
  const std::vector<Range> ranges{parse_range("train.schedule.lr = log(1e-5, 1e-2)")};
  std::array<int, 3> decades{};
  for (int i = 0; i < 3000; ++i) {
    const double lr = std::stod(draw(ranges, 7, i)[0]);
    ++decades[static_cast<std::size_t>(std::clamp(std::floor(std::log10(lr)) + 5, 0.0, 2.0))];
  }
  for (const int n : decades) EXPECT_NEAR(n, 1000, 130);
}

TEST(TuneRanges, ADrawDependsOnSeedNumberAndItsOwnRangeAlone) {
  const std::vector<Range> ranges = checked_ranges(a_config(kAll));
  const std::vector<Range> two{ranges[3], ranges[0]};
  for (const int i : {0, 1, 17}) {
    const std::vector<std::string> all = draw(ranges, 5, i);
    EXPECT_EQ(draw(two, 5, i), (std::vector<std::string>{all[3], all[0]}));
    EXPECT_EQ(draw(ranges, 5, i), all);
    EXPECT_NE(draw(ranges, 6, i), all);
    EXPECT_NE(draw(ranges, 5, i + 1), all);
  }
}

TEST(TuneRanges, ATrialIsASingleRunWithTheValuesDrawn) {
  const train::ExperimentConfig config = a_config(kAll);
  const std::vector<Range> ranges = checked_ranges(config);
  const train::ExperimentConfig trial =
      with_values(config, ranges, {"0.001", "0.5", "6", "12", "128"});
  EXPECT_EQ(trial.hyper.train.schedule.lr, 0.001);
  EXPECT_EQ(trial.hyper.model.d_state, 6);
  EXPECT_EQ(trial.hyper.train.batch_size, 12);
  EXPECT_EQ(trial.windows.length, 128);
  EXPECT_TRUE(trial.tune.ranges.empty());
  train::ExperimentConfig same = a_config({"train.seed = integer(1, 2)"});
  EXPECT_EQ(config::hash_of(with_values(same, {}, {})),
            config::hash_of(with_values(config, {}, {})))
      << "how it was found is no part of what it is";
}

}  // namespace
}  // namespace foxhunt::experiments
