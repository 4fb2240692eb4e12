#include "foxhunt/train/bench_train/bench_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>

namespace foxhunt::train {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Figure times(const Figure& f, double factor) {
  return {f.value * factor, f.low * factor, f.high * factor, f.level};
}

const BenchedCase* find(const BenchReport& report, const BenchCase& which) {
  for (const BenchedCase& one : report.cases) {
    if (one.record.which == which && !one.record.visits.empty()) return &one;
  }
  return nullptr;
}

void add_speed_up(BenchReport& report, const std::string& what, const BenchCase& fast,
                  const BenchCase& slow) {
  const BenchedCase* a = find(report, fast);
  const BenchedCase* b = find(report, slow);
  if (a == nullptr || b == nullptr) return;
  report.speed_ups.push_back(
      {what, fast.key(), slow.key(), ratio_of(b->record, a->record, report.level)});
}

void add_speed_ups(BenchReport& report) {
  std::vector<BenchCase> cases;
  for (const BenchedCase& one : report.cases) cases.push_back(one.record.which);
  for (const BenchCase& c : cases) {
    BenchCase other = c;
    if (c.kernels == "native") {
      other.kernels = "aten";
      add_speed_up(report, "native over aten", c, other);
    }
    other = c;
    if (c.precision == "bf16") {
      other.precision = "fp32";
      add_speed_up(report, "bf16 over fp32", c, other);
    }
    other = c;
    if (c.device != "cpu") {
      other.device = "cpu";
      add_speed_up(report, c.device + " over cpu", c, other);
    }
  }
}

void add_fastest(BenchReport& report) {
  std::map<std::string, const BenchedCase*> best;
  for (const BenchedCase& one : report.cases) {
    if (one.record.visits.empty()) continue;
    const BenchedCase*& seen = best[one.record.which.device];
    if (seen == nullptr || one.summary.rows_per_second.value > seen->summary.rows_per_second.value)
      seen = &one;
  }
  for (const auto& [device, one] : best) report.fastest.push_back(one->record.which.key());
}

using Estimate = std::function<std::int64_t(const BenchCase&)>;

/// Largest batch whose estimate is within `memory`: doubling, then halving the gap.
std::int64_t largest_by(const Estimate& estimate, BenchCase which, std::int64_t memory) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  const auto fits = [&](std::int64_t batch) {
    which.batch = batch;
    return estimate(which) <= memory;
  };
  if (!fits(1)) return 0;
  std::int64_t low = 1;
  while (low < kMost && fits(2 * low)) low *= 2;
  std::int64_t high = 2 * low;
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return low;
}

void add_largest(BenchReport& report, const std::map<std::string, std::int64_t>& memory,
                 const Estimate& estimate) {
  std::map<std::string, std::vector<const CaseRecord*>> families;
  std::vector<std::string> order;
  for (const BenchedCase& one : report.cases) {
    const std::string family = one.record.which.family();
    if (families.find(family) == families.end()) order.push_back(family);
    if (!one.record.visits.empty()) families[family].push_back(&one.record);
  }
  for (const std::string& family : order) {
    const std::vector<const CaseRecord*>& records = families[family];
    const auto limit = records.empty() ? memory.end() : memory.find(records.front()->which.device);
    if (limit == memory.end()) continue;
    const MemoryLine line = memory_line(records);
    LargestBatch largest{.family = family, .memory_bytes = limit->second};
    for (const CaseRecord* record : records)
      largest.measured = std::max(largest.measured, record->which.batch);
    if (estimate) {
      largest.fits = largest_by(estimate, records.front()->which, limit->second);
      largest.how = "by the memory estimate";
    } else if (line.per_window > 0) {
      largest.fits = static_cast<std::int64_t>(
          std::max(0.0, (static_cast<double>(limit->second) - line.base) / line.per_window));
      largest.how = fmt::format("{:.3g} MiB a window, extrapolated from {} windows",
                                line.per_window / (1 << 20), line.measured_batch);
    } else {
      largest.fits = largest.measured;
      largest.how = "as measured; too few batches to extrapolate";
    }
    report.largest.push_back(std::move(largest));
  }
}

}  // namespace

void derive(BenchReport& report, const std::vector<CaseRecord>& records,
            const std::map<std::string, std::int64_t>& memory, const Estimate& estimate) {
  std::map<std::string, std::vector<const CaseRecord*>> by_device;
  for (const CaseRecord& record : records) {
    if (!record.visits.empty()) by_device[record.which.device].push_back(&record);
  }
  for (const auto& [device, of_it] : by_device) report.host[device] = host_speed(of_it);
  for (const CaseRecord& record : records) {
    BenchedCase one{.record = record};
    if (!record.visits.empty()) {
      one.summary =
          summarise(record, report.window_rows, report.level, report.host.at(record.which.device));
      one.steps = steps_of(report.task, report.work, record.which.batch);
      one.hours = hours_of(one.steps, one.summary.normalised_seconds);
      one.cost = times(one.hours, report.price_per_hour.value_or(kNaN));
      report.other_cores = std::max(report.other_cores, one.summary.other_cores);
    }
    report.cases.push_back(std::move(one));
  }
  add_largest(report, memory, estimate);
  add_fastest(report);
  add_speed_ups(report);
}

}  // namespace foxhunt::train
