#include "foxhunt/latency/latency_row.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/latency/support.h"

namespace foxhunt::latency {
namespace {

constexpr double kSteadyClock = 0.95;

class Judge {
 public:
  Judge(double exposed_us, double stalls_per_s, const TscClock& clock)
      : exposed_us_(exposed_us), stalls_per_s_(stalls_per_s), clock_(clock) {}

  Percentile operator()(const Histogram& histogram, double q) const {
    Percentile found{.us = clock_.us(histogram.quantile(q)), .why_not = {}};
    const Support enough = enough_samples(q, histogram.count());
    found.why_not = enough ? supported(q, exposed_us_, stalls_per_s_).why_not : enough.why_not;
    return found;
  }

 private:
  double exposed_us_;
  double stalls_per_s_;
  const TscClock& clock_;
};

void set_subject(LatencyRow& row, const RowSubject& subject) {
  row.model = subject.model;
  row.parameters = subject.parameters;
  row.weights = subject.weights;
  row.kernels = subject.kernels;
  row.bytes_per_step = subject.bytes_per_step;
  row.page_size = subject.page_size;
  row.cpu = subject.cpu;
}

void set_machine(LatencyRow& row, const Measurement& measured, const TscClock& clock) {
  const HiccupStats control = measured.control();
  row.stalls_per_s = control.stalls_per_s();
  row.stalls_per_s_bound = control.stalls_per_s_bound();
  row.largest_stall_us = control.largest_us;
  row.stalls_before_per_s = measured.before.stalls_per_s();
  row.stalls_during_per_s = measured.during.stalls_per_s();
  row.stalls_after_per_s = measured.after.stalls_per_s();
  row.minor_faults = measured.counters.minor_faults;
  row.major_faults = measured.counters.major_faults;
  row.voluntary_switches = measured.counters.voluntary_switches;
  row.involuntary_switches = measured.counters.involuntary_switches;
  row.allocations = measured.allocations;
  row.core_ghz = (measured.core_before.median_ghz + measured.core_after.median_ghz) / 2.0;
  row.core_best_ghz = std::max(measured.core_before.best_ghz, measured.core_after.best_ghz);
  row.tsc_ghz = clock.ticks_per_ns();
  row.tsc_error = clock.relative_error();
  row.timer_us = clock.pair_ns() * 1e-3;
  const double slowest = std::min(measured.core_before.median_ghz, measured.core_after.median_ghz);
  if (slowest < kSteadyClock * row.core_best_ghz) {
    row.notes.push_back(
        fmt::format("the core ran at {:.2f} GHz, below 95 % of the {:.2f} GHz it "
                    "reached: not a steady clock",
                    slowest, row.core_best_ghz));
  }
}

}  // namespace

LatencyRow make_row(const RowSubject& subject, const Measurement& measured,
                    const StreamingFloor& floor, const TscClock& clock) {
  if (measured.all.count() == 0) throw UsageError("[latency] nothing was measured");
  LatencyRow row;
  set_subject(row, subject);
  set_machine(row, measured, clock);
  row.schedule = measured.schedule;
  row.n = measured.all.count();
  row.quiet_n = measured.quiet.count();
  row.late_events = measured.late_events;
  row.min_us = clock.us(measured.all.min());
  row.max_us = clock.us(measured.all.max());
  row.floor_us = floor.floor_us;
  row.floor_gb_per_s = floor.gb_per_s;

  const double p50_us = clock.us(measured.all.quantile(0.5));
  const double exposed_us = p50_us + (measured.spaced ? measured.control().mean_stall_us() : 0.0);
  const Judge judge(exposed_us, row.stalls_per_s_bound, clock);
  row.p10 = judge(measured.all, 0.1);
  row.p50 = judge(measured.all, 0.5);
  row.p99 = judge(measured.all, 0.99);
  row.p99_9 = judge(measured.all, 0.999);
  row.p99_99 = judge(measured.all, 0.9999);
  row.quiet_p50 = judge(measured.quiet, 0.5);
  row.quiet_p99 = judge(measured.quiet, 0.99);
  check_against_floor(p50_us, floor);
  if (p50_us < floor.floor_us) {
    row.notes.push_back(
        fmt::format("p50 lies below the floor's median of {:.3f} us and above its "
                    "best of {:.3f} us: other work ran beside the floor",
                    floor.floor_us, floor.best_us));
  }
  return row;
}

void set_syscalls(LatencyRow& row, const SyscallProof& proof, const SyscallCount& count) {
  row.syscalls_text = proof.text;
  if (proof.none()) {
    row.syscalls = 0;
  } else if (count.calls) {
    row.syscalls = count.calls;
    row.syscalls_text +=
        fmt::format("{}{} counted by ptrace", proof.text.empty() ? "" : "; ", *count.calls);
  } else {
    row.syscalls.reset();
    if (!count.text.empty()) {
      row.syscalls_text += (proof.text.empty() ? "" : "; ") + count.text;
    }
  }
}

}  // namespace foxhunt::latency
