#include "foxhunt/train/bench_train/training_task.h"

#include <gtest/gtest.h>

#include "foxhunt/base/error.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/train/test_data.h"
#include "foxhunt/train/windows.h"

namespace foxhunt::train {
namespace {

using std::chrono::seconds;

TEST(TrainingTask, ReadsBarsAndSymbols) {
  EXPECT_EQ(parse_bar("1m"), 60);
  EXPECT_EQ(parse_bar("30s"), 30);
  EXPECT_EQ(parse_bar("2h"), 7200);
  EXPECT_EQ(parse_bar("90"), 90);
  for (const char* bad :
       {"", "m", "0m", "-1m", "1.5m", "25h", "1 m", "1d", "99999999999999999999s"})
    EXPECT_THROW(parse_bar(bad), UsageError) << bad;
  EXPECT_EQ(parse_symbols("4"), (std::vector<std::string>{"ES", "NQ", "ZN", "6E"}));
  EXPECT_EQ(parse_symbols("2"), (std::vector<std::string>{"ES", "NQ"}));
  EXPECT_EQ(parse_symbols("6E,ES"), (std::vector<std::string>{"6E", "ES"}));
  EXPECT_GT(parse_symbols("5").size(), 4U);
  for (const char* bad : {"", "XX", "ES,", "ES,,NQ", "0", "9999"})
    EXPECT_THROW(parse_symbols(bad), UsageError) << bad;
}

TEST(TrainingTask, WindowsAreThoseThatTrainingCuts) {
  for (const WindowConfig& config :
       {WindowConfig{.length = 10, .burn_in = 3}, WindowConfig{.length = 7, .burn_in = 0},
        WindowConfig{.length = 8, .burn_in = 2, .stride = 3}}) {
    for (std::int64_t rows = 1; rows <= 60; ++rows) {
      for (const std::int64_t first : {0, 1, 6, 10, 25}) {
        Sequence sequence = test::counted_sequence(parse_time("2024-03-04"), rows, 0);
        for (std::int64_t t = 0; t < rows; ++t)
          sequence.labels.valid[static_cast<std::size_t>(t)] = t >= first ? 1 : 0;
        const std::vector<Sequence> sequences{sequence};
        Split split;
        split.parts.emplace_back(static_cast<std::size_t>(rows), Part::kTrain);
        EXPECT_EQ(windows_of(first, rows, config),
                  static_cast<std::int64_t>(training_windows(config, sequences, split).size()))
            << rows << " rows, labels from " << first << ", windows of " << config.length;
      }
    }
  }
  EXPECT_EQ(windows_of(0, 0, {}), 0);
  EXPECT_EQ(windows_of(0, -5, {}), 0);
}

/// One bar for every bar of trading time of the days, as a file would hold them.
std::vector<market::Bar> bars_of(const std::string& product, const TrainingTask& task) {
  std::vector<market::Bar> bars;
  const UnixNanos first{std::chrono::sys_days{task.from}};
  const auto calendar = market::Calendar::for_product(product);
  Rng rng(3);
  for (const market::Session& session :
       calendar.sessions_between(first, first + std::chrono::days(task.days))) {
    if (session.open < first) continue;
    for (UnixNanos at = session.open; at + seconds(task.bar_seconds) <= session.close;
         at += seconds(task.bar_seconds)) {
      if (!is_null(session.halt_start) && at + seconds(task.bar_seconds) > session.halt_start &&
          at < session.halt_end)
        continue;
      bars.push_back(test::random_bars(rng, at, 1).front());
    }
  }
  return bars;
}

/// The pipeline that trains counts the same: weekdays with a halt (2013), an early close, a
/// holiday.
TEST(TrainingTask, RowsAreThoseOfThePipelineOnFullSessions) {
  ExperimentConfig config;
  config.features = features::test::small_config();
  config.windows = {.length = 64, .burn_in = 8};
  for (const char* from : {"2013-11-25", "2024-03-07", "2024-07-01"}) {
    const TrainingTask task{.symbols = {"ES"}, .days = 7, .from = parse_date(from), .epochs = 1};
    const std::vector<market::Bar> bars = bars_of("ES", task);
    const SymbolWork work = work_of(task, config).front();
    EXPECT_EQ(work.bars, static_cast<std::int64_t>(bars.size())) << from;
    const SequenceSet set = test::build(bars, config.label, config.features);
    EXPECT_EQ(work.rows, set.counters.rows) << from;
    Split split;
    for (const Sequence& sequence : set.sequences)
      split.parts.emplace_back(static_cast<std::size_t>(sequence.length()), Part::kTrain);
    EXPECT_EQ(work.windows, static_cast<std::int64_t>(
                                training_windows(config.windows, set.sequences, split).size()))
        << from;
  }
}

TEST(TrainingTask, AFullDayOfEsHas1380Minutes) {
  // Tuesday to Thursday, no holiday: 17:00 to 16:00 Chicago.
  const TrainingTask task{
      .symbols = {"ES"}, .days = 3, .from = parse_date("2024-03-05"), .epochs = 1};
  ExperimentConfig config;
  const SymbolWork work = work_of(task, config).front();
  EXPECT_EQ(work.sessions, 3);
  EXPECT_EQ(work.bars, 3 * 1380);
}

TEST(TrainingTask, HoursAreStepsTimesSeconds) {
  const TrainingTask task{.symbols = {"A", "B"}, .epochs = 3};
  const std::vector<SymbolWork> work{{.symbol = "A", .windows = 10}, {.symbol = "B", .windows = 5}};
  EXPECT_EQ(steps_of(task, work, 4), 3 * (3 + 2));
  EXPECT_EQ(steps_of(task, work, 1), 45);
  const Figure hours = hours_of(7200, {.value = 0.5, .low = 0.25, .high = 1.0, .level = 0.95});
  EXPECT_DOUBLE_EQ(hours.value, 1.0);
  EXPECT_DOUBLE_EQ(hours.low, 0.5);
  EXPECT_DOUBLE_EQ(hours.high, 2.0);
  EXPECT_EQ(hours.level, 0.95);
}

TEST(TrainingTask, DaysBeyondTheCalendarAreRefused) {
  TrainingTask task{.symbols = {"ES"}, .days = 10, .from = parse_date("1985-01-01"), .epochs = 1};
  EXPECT_THROW(work_of(task, {}), UsageError);
  task.from = parse_date("2090-01-01");
  EXPECT_THROW(work_of(task, {}), UsageError);
}

}  // namespace
}  // namespace foxhunt::train
