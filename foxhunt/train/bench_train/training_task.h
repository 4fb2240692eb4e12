#pragma once
// How much a training is: rows, windows and steps of some days of some products, by the market
// calendar. Torch-free.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/time.h"
#include "foxhunt/train/bench_train/order_statistics.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct TrainingTask {
  std::vector<std::string> symbols{"ES", "NQ", "ZN", "6E"};
  std::int64_t days = 90;  ///< calendar days
  Date from{std::chrono::year{2024}, std::chrono::month{1}, std::chrono::day{2}};
  std::int64_t bar_seconds = 60;
  std::int64_t epochs = 20;
};

/// "1m", "30s", "1h", "90" (seconds). Errors  UsageError.
std::int64_t parse_bar(std::string_view text);
/// "ES,NQ" or a number: so many of ES, NQ, ZN, 6E and then of what else the calendar knows.
/// Errors  UsageError: a product without a calendar, more than there are.
std::vector<std::string> parse_symbols(std::string_view text);

/// Of one product.
struct SymbolWork {
  std::string symbol{};
  std::int64_t sessions = 0;  ///< that open within the days
  std::int64_t bars = 0;      ///< one for every bar of trading time: the most there can be
  std::int64_t rows = 0;      ///< bars behind the warm-up of the features
  std::int64_t windows = 0;   ///< training windows, all of them trained on once an epoch
};

/// Bars, rows and windows of the task, with the warm-up, the horizon and the windows of the
/// experiment. Every row trains: no part is held back.
/// Errors  ConfigError as the feature pipeline's; UsageError: days outside of the calendar.
std::vector<SymbolWork> work_of(const TrainingTask& task, const ExperimentConfig& config);

/// Windows that training_windows() cuts from one sequence with labels on rows [first, end).
std::int64_t windows_of(std::int64_t first, std::int64_t end, const WindowConfig& windows);

/// Optimiser steps of the whole task: a training a product, epochs x ceil(windows / batch) each.
std::int64_t steps_of(const TrainingTask& task, const std::vector<SymbolWork>& work,
                      std::int64_t batch);

/// steps x seconds a step, in hours, with the step's interval.
Figure hours_of(std::int64_t steps, const Figure& step_seconds);

}  // namespace foxhunt::train
