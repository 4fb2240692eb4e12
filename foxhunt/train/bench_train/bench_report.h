#pragma once
// What a training benchmark comes to: figures with intervals, what fits, what is fastest, what a
// training will take and cost. Torch-free.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "foxhunt/train/bench_train/bench_case.h"
#include "foxhunt/train/bench_train/training_task.h"

namespace foxhunt::train {

struct BenchedCase {
  CaseRecord record{};
  CaseSummary summary{};   ///< empty figures where there was no visit
  std::int64_t steps = 0;  ///< of the task with this batch
  Figure hours{};          ///< at the machine's median speed of this run
  Figure cost{};           ///< hours x price; NaN without a price
};

/// How many windows of a family fit into a device's memory.
struct LargestBatch {
  std::string family{};
  std::int64_t measured = 0;  ///< the largest that was run
  std::int64_t fits = 0;      ///< by the line through measured peaks, or by the estimate
  std::int64_t memory_bytes = 0;
  std::string how{};  ///< "extrapolated from 16 and 64 windows", "by the memory estimate"
};

/// Times of `slow` over times of `fast`, measured in turns.
struct SpeedUp {
  std::string what;            ///< "native over aten", "bf16 over fp32", "cuda:0 over cpu"
  std::string fast{}, slow{};  ///< keys
  Figure ratio{};
};

struct BenchReport {
  std::string experiment, config_hash, model;  ///< model: its sizes in words
  std::string cpu, machine_fingerprint, binary_sha256, revision, libtorch;
  std::vector<std::string> gpus{};
  std::string cuda_reason{};  ///< why no GPU was measured; "" one was
  std::int64_t cores = 0, threads = 0, memory_bytes = 0;
  std::int64_t parameters = 0, features = 0, window_rows = 0, own_batch = 0;
  double level = 0.95, target_share = 0.05;
  double seconds = 0;       ///< of this run
  double other_cores = 0;   ///< most that others used during a visit
  double load_before = -1;  ///< load average when it began
  bool complete = false;    ///< no case was cut off by Ctrl-C
  std::optional<double> price_per_hour{};
  TrainingTask task{};
  std::vector<SymbolWork> work{};
  std::map<std::string, HostSpeed> host{};  ///< by device
  std::vector<BenchedCase> cases{};
  std::vector<LargestBatch> largest{};
  std::vector<std::string> fastest{};  ///< key of the case with most rows a second, a device
  std::vector<SpeedUp> speed_ups{};
  std::vector<std::string> notes{};
};

/// Fills everything from `host` on; the rest of `report` is there. `memory` as in RunLimits.
void derive(BenchReport& report, const std::vector<CaseRecord>& records,
            const std::map<std::string, std::int64_t>& memory,
            const std::function<std::int64_t(const BenchCase&)>& estimate);

std::string to_json(const BenchReport& report);
std::string to_markdown(const BenchReport& report);
std::string to_html(const BenchReport& report);
/// A figure with its interval, as "16.3 [15.9, 17.0]", with " at 75 %" behind it where it has a
/// lower level than 95 %; "n/a" without observations.
std::string figure_text(const Figure& figure, double factor = 1);

}  // namespace foxhunt::train
