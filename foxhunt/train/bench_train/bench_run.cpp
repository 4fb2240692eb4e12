#include "foxhunt/train/bench_train/bench_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include "foxhunt/base/progress.h"

namespace foxhunt::train {
namespace {

constexpr std::size_t kLosses = 8;        ///< steps whose losses are kept
constexpr std::size_t kMostSteps = 4000;  ///< measured in one visit
constexpr double kWarmShare = 0.15;       ///< of a visit's time
constexpr double kRest = 0.01;            ///< seconds of the budget that are no visit's worth
constexpr double kTurn = 0.04;            ///< seconds of steps, then of reference programs
constexpr std::int64_t kMostPack = 1000;  ///< reference programs timed as one
constexpr std::int64_t kFewestSteps = 3;  ///< a visit has to have room for

bool is_out_of_memory(const std::exception& error) {
  const std::string_view text = error.what();
  return dynamic_cast<const std::bad_alloc*>(&error) != nullptr ||
         text.find("allocate memory") != std::string_view::npos ||
         text.find("out of memory") != std::string_view::npos;
}

class Runner {
 public:
  Runner(BenchMachine& machine, std::vector<CaseRecord>& records, const RunLimits& limits,
         const RunEvents& events)
      : machine_(machine), records_(records), limits_(limits), events_(events) {}

  void run() {
    marked_ = machine_.seconds();
    const double start = marked_ - spent_before();
    for (std::int64_t turn = 0; turn < limits_.most_visits; ++turn) {
      for (CaseRecord& record : records_) {
        if (!open(record) || static_cast<std::int64_t>(record.visits.size()) > turn) continue;
        const double left = limits_.budget_seconds - (machine_.seconds() - start);
        // What is left of it is no visit's worth: the same call again measures nothing more.
        if (left <= kRest || stopped()) return;
        const double slice = left / static_cast<double>(std::max<std::int64_t>(visits_left(), 1));
        if (const auto reason = cannot(record, slice)) {
          leave_out(record, *reason);
          continue;
        }
        if (!visit(record, slice)) return;
      }
    }
  }

 private:
  bool open(const CaseRecord& record) const {
    return record.left_out.empty() && !is_done(record, limits_);
  }
  /// In an earlier run that this one goes on with.
  double spent_before() const {
    double spent = 0;
    for (const CaseRecord& record : records_) {
      for (const BenchVisit& visit : record.visits) spent += visit.spent;
    }
    return spent;
  }
  bool stopped() const { return events_.interrupted && events_.interrupted(); }

  std::int64_t visits_left() const {
    std::int64_t left = 0;
    for (const CaseRecord& record : records_) {
      if (!open(record)) continue;
      const auto done = static_cast<std::int64_t>(record.visits.size());
      left += std::max<std::int64_t>(limits_.least_visits - done, 1);
    }
    return left;
  }

  std::vector<const CaseRecord*> smaller_siblings(const CaseRecord& record) const {
    std::vector<const CaseRecord*> found;
    for (const CaseRecord& other : records_) {
      if (other.which.family() == record.which.family() && other.which.batch < record.which.batch &&
          !other.visits.empty())
        found.push_back(&other);
    }
    return found;
  }

  /// Why the case is not to be tried; only asked before its first visit.
  std::optional<std::string> cannot(const CaseRecord& record, double slice) const {
    if (!record.visits.empty()) return std::nullopt;
    for (const CaseRecord& other : records_) {
      if (other.which.family() == record.which.family() && other.which.batch < record.which.batch &&
          other.left_out.rfind("out of memory", 0) == 0)
        return fmt::format("out of memory already at {} windows", other.which.batch);
    }
    const std::vector<const CaseRecord*> siblings = smaller_siblings(record);
    const auto limit = limits_.memory_bytes.find(record.which.device);
    if (limit != limits_.memory_bytes.end()) {
      const double needed = expected_bytes(record.which, siblings);
      if (needed > static_cast<double>(limit->second)) {
        return fmt::format("out of memory: would need about {} of {}",
                           format_bytes(static_cast<std::int64_t>(needed)),
                           format_bytes(limit->second));
      }
    }
    if (siblings.empty()) return std::nullopt;
    const CaseRecord& near = *siblings.back();
    const double step = median_of(near.visits.front().seconds) *
                        static_cast<double>(record.which.batch) /
                        static_cast<double>(near.which.batch);
    if (step * static_cast<double>(kFewestSteps) > 2 * slice) {
      return fmt::format(
          "too slow: a step would take about {:.2g} s, and the budget has {:.2g} s a visit", step,
          slice);
    }
    return std::nullopt;
  }

  double expected_bytes(const BenchCase& which,
                        const std::vector<const CaseRecord*>& siblings) const {
    if (limits_.estimate) return static_cast<double>(limits_.estimate(which));
    if (siblings.size() == 1) {  // no line yet: at most in proportion
      const CaseRecord& near = *siblings.front();
      return static_cast<double>(near.visits.front().peak_bytes) *
             static_cast<double>(which.batch) / static_cast<double>(near.which.batch);
    }
    const MemoryLine line = memory_line(siblings);
    return line.base + line.per_window * static_cast<double>(which.batch);
  }

  void leave_out(CaseRecord& record, const std::string& reason) {
    record.left_out = reason;
    if (events_.left_out) events_.left_out(record);
  }

  /// False: interrupted.
  bool visit(CaseRecord& record, double slice) {
    if (events_.begins)
      events_.begins(record.which, static_cast<std::int64_t>(record.visits.size()));
    try {
      machine_.start_watch(record.which.device);
      const std::unique_ptr<BenchProgram> program = machine_.make(record.which);
      if (program->kernels() != record.which.kernels) {
        leave_out(record, fmt::format("no {} kernels for it on {}", record.which.kernels,
                                      record.which.device));
        return true;
      }
      BenchVisit seen;
      if (!measure(*program, record.which.device, slice, seen)) return false;
      seen.peak_bytes = machine_.peak_bytes(record.which.device);
      seen.other_cores = machine_.other_cores();
      const double now = machine_.seconds();
      seen.spent = now - std::exchange(marked_, now);  // what lay between two visits, too
      record.visits.push_back(std::move(seen));
    } catch (const std::exception& error) {
      if (!is_out_of_memory(error)) throw;
      leave_out(record, fmt::format("out of memory at {} windows", record.which.batch));
      return true;
    }
    if (events_.visited) events_.visited(record);
    return true;
  }

  double timed(const std::function<void()>& work) {
    const double start = machine_.seconds();
    work();
    return machine_.seconds() - start;
  }

  double step(BenchProgram& program, BenchVisit& seen) {
    return timed([&] {
      const double loss = program.step();
      if (seen.losses.size() < kLosses) seen.losses.push_back(loss);
    });
  }

  /// Packs of programs, each about as long as a step: so that a neighbour who takes a core for a
  /// moment shows in the median of both alike.
  void reference_turn(const std::string& device, std::int64_t pack, BenchVisit& seen) {
    machine_.settle();
    seen.reference_single.push_back(timed([&] { machine_.run_reference_single(device); }));
    double spent = 0;
    do {
      const double took = timed([&] { machine_.run_reference(device, pack); });
      seen.reference.push_back(took / static_cast<double>(pack));
      spent += took;
    } while (spent < kTurn);
  }

  void step_turn(BenchProgram& program, BenchVisit& seen) {
    std::vector<double> took;
    double spent = 0;
    do {
      took.push_back(step(program, seen));
      spent += took.back();
    } while (spent < kTurn);
    // The reference had the caches: the first of many steps pays for that.
    const std::ptrdiff_t from = took.size() > 3 ? 1 : 0;
    seen.seconds.insert(seen.seconds.end(), took.begin() + from, took.end());
  }

  bool measure(BenchProgram& program, const std::string& device, double slice, BenchVisit& seen) {
    const double start = machine_.seconds();
    const auto spent = [&] { return machine_.seconds() - start; };
    double last = step(program, seen);  // pages, threads, caches
    while (spent() + last < kWarmShare * slice && !stopped()) last = step(program, seen);
    machine_.settle();
    machine_.run_reference(device, 1);
    const double unit = timed([&] { machine_.run_reference(device, 1); });
    const auto pack = static_cast<std::int64_t>(
        std::clamp(std::round(last / unit), 1.0, static_cast<double>(kMostPack)));
    reference_turn(device, pack, seen);
    double round = 0;
    do {
      if (stopped()) return false;
      const double before = spent();
      step_turn(program, seen);
      reference_turn(device, pack, seen);
      round = spent() - before;
    } while (spent() + round < slice && seen.seconds.size() < kMostSteps);
    return true;
  }

  BenchMachine& machine_;
  std::vector<CaseRecord>& records_;
  const RunLimits& limits_;
  double marked_ = 0;  ///< end of the last visit
  const RunEvents& events_;
};

}  // namespace

bool is_done(const CaseRecord& record, const RunLimits& limits) {
  const auto visits = static_cast<std::int64_t>(record.visits.size());
  if (visits >= limits.most_visits) return true;
  if (visits < limits.least_visits) return false;
  std::vector<double> references;
  for (const BenchVisit& visit : record.visits) references.push_back(references_of(visit));
  const Figure figure = repeatable_figure(references, limits.level);
  return figure.level >= limits.level && figure.width_share() <= limits.target_share;
}

void run_cases(BenchMachine& machine, std::vector<CaseRecord>& records, const RunLimits& limits,
               const RunEvents& events) {
  Runner(machine, records, limits, events).run();
}

}  // namespace foxhunt::train
