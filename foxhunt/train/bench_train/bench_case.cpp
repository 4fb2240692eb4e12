#include "foxhunt/train/bench_train/bench_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace foxhunt::train {
namespace {

std::vector<double> sorted_steps(const BenchVisit& visit) {
  std::vector<double> seconds = visit.seconds;
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// `of(sorted step times)` of every visit by the clock, with the interval that it has against the
/// reference, taken to the ends of what the machine's speed was seen to be.
template <class F>
Figure by_the_clock(const CaseRecord& record, double level, const HostSpeed& host, const F& of) {
  std::vector<double> seconds, references;
  for (const BenchVisit& visit : record.visits) {
    const double value = of(sorted_steps(visit));
    seconds.push_back(value);
    references.push_back(value / median_of(visit.reference));
  }
  const Figure relative = repeatable_figure(references, level);
  const double middle = median_of(std::move(seconds));
  return {middle, std::min(middle, relative.low * host.program.low),
          std::max(middle, relative.high * host.program.high), relative.level};
}

/// Median, and what 95 % of the values lie in.
Figure spread_of(std::vector<double> values, double level) {
  std::sort(values.begin(), values.end());
  return {median_of(values), quantile_of(values, 0.025), quantile_of(values, 0.975), level};
}

/// factor / figure: the ends change sides.
Figure inverse(const Figure& f, double factor) {
  return {factor / f.value, factor / f.high, factor / f.low, f.level};
}

LossStability stability_of(const std::vector<BenchVisit>& visits) {
  LossStability out;
  std::size_t common = std::numeric_limits<std::size_t>::max();
  for (const BenchVisit& visit : visits) {
    common = std::min(common, visit.losses.size());
    for (const double loss : visit.losses) out.finite = out.finite && std::isfinite(loss);
  }
  out.steps = static_cast<std::int64_t>(common);
  const std::vector<double>& first = visits.front().losses;
  out.falls = common > 1 && first[common - 1] < first[0];
  for (const BenchVisit& visit : visits) {
    for (std::size_t i = 0; i < common; ++i) {
      const double difference = std::abs(visit.losses[i] - first[i]);
      // Not finite: not equal either.
      out.repeat_difference = std::isfinite(difference)
                                  ? std::max(out.repeat_difference, difference)
                                  : std::numeric_limits<double>::infinity();
    }
  }
  return out;
}

}  // namespace

std::string BenchCase::family() const {
  return fmt::format("{}/{}/{}", device, precision, kernels);
}
ExperimentConfig BenchCase::applied_to(ExperimentConfig config) const {
  TrainConfig& train = config.hyper.train;
  train.batch_size = batch;
  train.kernels = kernels == "native" ? nn::Kernels::kNative : nn::Kernels::kAten;
  train.precision = precision == "bf16" ? Precision::kBf16 : Precision::kFp32;
  return config;
}
std::string BenchCase::key() const { return fmt::format("{}/{}", family(), batch); }

double references_of(const BenchVisit& visit) {
  return median_of(visit.seconds) / median_of(visit.reference);
}

HostSpeed host_speed(const std::vector<const CaseRecord*>& records) {
  std::vector<double> all, single;
  for (const CaseRecord* record : records) {
    for (const BenchVisit& visit : record->visits) {
      all.push_back(median_of(visit.reference));
      single.push_back(median_of(visit.reference_single));
    }
  }
  const auto visits = static_cast<std::int64_t>(all.size());
  return {spread_of(std::move(all), 0.95), spread_of(std::move(single), 0.95), visits};
}

CaseSummary summarise(const CaseRecord& record, std::int64_t rows, double level,
                      const HostSpeed& host) {
  CaseSummary s;
  std::vector<double> references;
  for (const BenchVisit& visit : record.visits) references.push_back(references_of(visit));
  s.references = repeatable_figure(references, level);
  const double speed = host.program.value;
  s.normalised_seconds = {s.references.value * speed, s.references.low * speed,
                          s.references.high * speed, s.references.level};
  const auto clock = [&](const auto& of) { return by_the_clock(record, level, host, of); };
  s.step_seconds = clock([](const auto& t) { return median_of(t); });
  s.p5 = clock([](const auto& t) { return quantile_of(t, 0.05); });
  s.p95 = clock([](const auto& t) { return quantile_of(t, 0.95); });
  s.least = clock([](const auto& t) { return t.front(); });
  const auto windows = static_cast<double>(record.which.batch);
  s.windows_per_second = inverse(s.step_seconds, windows);
  s.rows_per_second = inverse(s.step_seconds, windows * static_cast<double>(rows));
  std::vector<double> peaks;
  for (const BenchVisit& visit : record.visits) {
    if (visit.peak_bytes >= 0) peaks.push_back(static_cast<double>(visit.peak_bytes));
    s.steps += static_cast<std::int64_t>(visit.seconds.size());
    s.other_cores = std::max(s.other_cores, visit.other_cores);
  }
  s.peak_bytes = repeatable_figure(peaks, level);
  if (record.which.device == "cpu") {
    s.peak_bytes.low /= kResidentBetweenProcesses;
    s.peak_bytes.high *= kResidentBetweenProcesses;
  }
  s.loss = stability_of(record.visits);
  return s;
}

Figure ratio_of(const CaseRecord& slow, const CaseRecord& fast, double level) {
  const bool one_reference = slow.which.device == fast.which.device;
  const auto cost = [one_reference](const BenchVisit& visit) {
    return one_reference ? references_of(visit) : median_of(visit.seconds);
  };
  std::vector<double> ratios;
  for (std::size_t i = 0; i < std::min(slow.visits.size(), fast.visits.size()); ++i)
    ratios.push_back(cost(slow.visits[i]) / cost(fast.visits[i]));
  return repeatable_figure(ratios, level);
}

std::vector<std::int64_t> batches_of(std::int64_t most, std::int64_t own, bool coarse) {
  std::vector<std::int64_t> batches{own};
  for (std::int64_t batch = 1; batch <= most; batch *= coarse ? 4 : 2) batches.push_back(batch);
  std::sort(batches.begin(), batches.end());
  batches.erase(std::unique(batches.begin(), batches.end()), batches.end());
  return batches;
}

MemoryLine memory_line(const std::vector<const CaseRecord*>& records) {
  std::vector<std::pair<std::int64_t, double>> points;
  for (const CaseRecord* record : records) {
    std::vector<double> peaks;
    for (const BenchVisit& visit : record->visits) {
      if (visit.peak_bytes > 0) peaks.push_back(static_cast<double>(visit.peak_bytes));
    }
    if (!peaks.empty()) points.emplace_back(record->which.batch, median_of(std::move(peaks)));
  }
  std::sort(points.begin(), points.end());
  MemoryLine line;
  if (points.size() < 2) return line;
  // The two largest: small batches drown in what is there at any size.
  const auto& [b1, y1] = points[points.size() - 2];
  const auto& [b2, y2] = points.back();
  line.per_window = std::max(0.0, (y2 - y1) / static_cast<double>(b2 - b1));
  line.base = y2 - line.per_window * static_cast<double>(b2);
  line.measured_batch = b2;
  return line;
}

}  // namespace foxhunt::train
