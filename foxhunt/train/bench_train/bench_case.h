#pragma once
// One setting of a training benchmark, what was seen of it, and which settings there are.
// Torch-free.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/train/bench_train/order_statistics.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct BenchCase {
  std::string device;      ///< "cpu", "cuda:0"
  std::string precision;   ///< "fp32", "bf16"
  std::string kernels;     ///< "native", "aten"
  std::int64_t batch = 1;  ///< windows a step

  std::string key() const;     ///< "cpu/fp32/native/32"
  std::string family() const;  ///< without the batch
  /// The experiment with these settings.
  ExperimentConfig applied_to(ExperimentConfig config) const;
  friend bool operator==(const BenchCase&, const BenchCase&) = default;
};

/// One turn of a case: a fresh program, warm-up, then measured steps and reference programs
/// (host_reference.h) in turns, a reference before and behind all.
struct BenchVisit {
  std::vector<double> seconds{};    ///< of each measured step
  std::vector<double> reference{};  ///< a program, all threads at work; of packs as long as a step
  std::vector<double> reference_single{};  ///< a program, one thread at work
  std::vector<double> losses{};            ///< of the first steps, warm-up included
  std::int64_t peak_bytes = -1;            ///< over what was there before the program; -1 unknown
  double other_cores = 0;                  ///< mean number of cores that others used meanwhile
  double spent = 0;                        ///< seconds, making the program included
};

struct CaseRecord {
  BenchCase which{};
  std::vector<BenchVisit> visits{};
  std::string left_out{};  ///< why it is not measured, or not any more; "" it is
};

struct LossStability {
  bool finite = true;
  bool falls = true;             ///< the last of the common steps is below the first
  double repeat_difference = 0;  ///< largest |a - b| between visits at the same step; 0: bit-equal
  std::int64_t steps = 0;        ///< that were compared
};

/// How fast the machine was while a device was measured: seconds a reference program, the median of
/// all visits; low and high: what 95 % of the visits lie in.
struct HostSpeed {
  Figure program{}, single{};  ///< all threads at work; one
  std::int64_t visits = 0;
  double swing() const { return program.high / program.low - 1; }
};
HostSpeed host_speed(const std::vector<const CaseRecord*>& records);

/// How far resident memory moves from one process to the next, which visits inside one cannot see:
/// the allocator's thresholds and fragments stay for its life. bench/repeat_bench_train.py showed
/// up to 1.14 between two runs.
inline constexpr double kResidentBetweenProcesses = 1.15;

/// What the visits of a case come to. Every figure is the median over visits of what one visit
/// says, with the interval in which a second run falls (order_statistics.h).
struct CaseSummary {
  Figure references{};  ///< reference programs that a step costs, visit by visit: what repeats
  Figure normalised_seconds{};  ///< the same at the machine's median speed of this run
  /// By the clock. Their intervals are those against the reference, at the slowest and the fastest
  /// that the machine was seen: they hold what it drifted in this run.
  Figure step_seconds{}, p5{}, p95{}, least{};
  Figure windows_per_second{}, rows_per_second{};
  /// NaN where the system does not tell. Of resident memory the interval is wider than the visits'
  /// own by kResidentBetweenProcesses.
  Figure peak_bytes{};
  LossStability loss{};
  std::int64_t steps = 0;
  double other_cores = 0;  ///< the most that a visit met
};
/// `rows`: of a window. Visits must not be empty.
CaseSummary summarise(const CaseRecord& record, std::int64_t rows, double level,
                      const HostSpeed& host);
/// Its step time over the reference's, medians both.
double references_of(const BenchVisit& visit);

/// Of steps counted in reference programs, visit by visit, so that what a machine does meanwhile
/// hits both alike; of times by the clock where the devices differ, which have a reference each.
Figure ratio_of(const CaseRecord& slow, const CaseRecord& fast, double level);

/// Which batches to try: powers of two (of four with `coarse`) from 1 to `most`, and `own`.
std::vector<std::int64_t> batches_of(std::int64_t most, std::int64_t own, bool coarse);

/// A straight line through the memory of the measured batches of one family.
struct MemoryLine {
  double base = 0, per_window = 0;  ///< bytes
  std::int64_t measured_batch = 0;  ///< the largest
};
/// `records` of one family. per_window 0: fewer than two batches with a peak.
MemoryLine memory_line(const std::vector<const CaseRecord*>& records);

}  // namespace foxhunt::train
