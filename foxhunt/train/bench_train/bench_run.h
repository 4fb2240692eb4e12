#pragma once
// Measures cases in turns until their intervals are narrow or the time is spent. Knows neither
// LibTorch nor a clock of its own: both come through BenchMachine, so that tests can make them up.
// Torch-free.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "foxhunt/train/bench_train/bench_case.h"

namespace foxhunt::train {

/// A model with its optimiser, fed the same batch over and over.
class BenchProgram {
 public:
  virtual ~BenchProgram() = default;
  /// One optimiser step, to its end on the device; the loss.
  virtual double step() = 0;
  /// Who really computes: "native" or "aten".
  virtual std::string kernels() const = 0;
};

class BenchMachine {
 public:
  virtual ~BenchMachine() = default;
  virtual std::unique_ptr<BenchProgram> make(const BenchCase& which) = 0;
  virtual double seconds() = 0;  ///< a clock that only goes forward
  /// Until threads of the steps have come to rest.
  virtual void settle() = 0;
  /// So many reference programs to their end: by all threads, each as many; by one thread alone.
  virtual void run_reference(const std::string& device, std::int64_t programs) = 0;
  virtual void run_reference_single(const std::string& device) = 0;
  /// From here on memory and the load of others are watched.
  virtual void start_watch(const std::string& device) = 0;
  virtual std::int64_t peak_bytes(const std::string& device) = 0;  ///< -1 unknown
  virtual double other_cores() = 0;
};

struct RunLimits {
  double budget_seconds = 1800;
  double target_share = 0.05;  ///< a case is done when its interval is narrower than this share
  double level = 0.95;
  /// Nine would carry 95 % (repeat_coverage) if none depended on another; groups of five bear with
  /// visits that do (grouped_figure).
  std::int64_t least_visits = 20;
  std::int64_t most_visits = 61;
  std::map<std::string, std::int64_t> memory_bytes{};  ///< by device; absent: no limit
  /// Bytes that a case will need; null: a line through what smaller batches needed.
  std::function<std::int64_t(const BenchCase&)> estimate{};
};

/// What is told while it runs.
struct RunEvents {
  std::function<void(const CaseRecord&)> visited{};   ///< behind its last visit
  std::function<void(const CaseRecord&)> left_out{};  ///< with its reason
  std::function<void(const BenchCase&, std::int64_t visit)> begins{};
  std::function<bool()> interrupted{};
};

bool is_done(const CaseRecord& record, const RunLimits& limits);

/// Turn by turn, every open case once a turn, in their order: put smaller batches of a family
/// first. Cases that were visited before go on where they stood. A case that does not fit its
/// memory, whose steps are too long for its share of the time, or whose kernels are not there is
/// left out with the reason. Returns early when interrupted; an unfinished visit is dropped.
void run_cases(BenchMachine& machine, std::vector<CaseRecord>& records, const RunLimits& limits,
               const RunEvents& events);

}  // namespace foxhunt::train
