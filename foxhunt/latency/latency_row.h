#pragma once
// One measured figure with everything one needs to judge it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/latency/runner.h"
#include "foxhunt/latency/streaming_floor.h"
#include "foxhunt/latency/syscall_count.h"
#include "foxhunt/latency/syscall_proof.h"

namespace foxhunt::latency {

/// A percentile, or why this machine or this many samples do not let one be claimed.
struct Percentile {
  double us = 0.0;
  std::string why_not;  ///< empty: `us` stands

  bool claimed() const noexcept { return why_not.empty(); }
};

struct LatencyRow {
  std::string model;
  std::int64_t parameters = 0;
  std::string weights;   ///< "fp32", "fp16", "bf16", "int8"
  std::string kernels;   ///< name of the kernel table
  std::string schedule;  ///< "back_to_back", "20us", "1ms"

  double min_us = 0.0, max_us = 0.0;  ///< facts of this run, not claims
  Percentile p10, p50, p99, p99_9, p99_99;
  std::int64_t n = 0;
  Percentile quiet_p50, quiet_p99;  ///< of quiet stretches (run_loop.h)
  std::int64_t quiet_n = 0;
  std::int64_t late_events = 0;

  double floor_us = 0.0;
  double floor_gb_per_s = 0.0;
  std::int64_t bytes_per_step = 0;
  double floor_ratio() const noexcept { return floor_us > 0.0 ? p50.us / floor_us : 0.0; }

  double stalls_per_s = 0.0;        ///< of the control, seen
  double stalls_per_s_bound = 0.0;  ///< its upper 95 % bound: what percentiles are judged by
  double largest_stall_us = 0.0;
  double stalls_before_per_s = 0.0, stalls_during_per_s = 0.0, stalls_after_per_s = 0.0;

  std::optional<std::int64_t> allocations;  ///< nothing: not counted
  std::optional<std::int64_t> syscalls;     ///< of the runs of the proof; nothing: not proven
  std::string syscalls_text;                ///< how that is known
  std::int64_t minor_faults = 0, major_faults = 0;
  std::int64_t voluntary_switches = 0, involuntary_switches = 0;

  double core_ghz = 0.0;       ///< mean of before and after
  double core_best_ghz = 0.0;  ///< the best seen
  double tsc_ghz = 0.0;
  double tsc_error = 0.0;  ///< relative
  double timer_us = 0.0;   ///< contained in every time above, never subtracted
  std::string page_size;
  std::string cpu;
  std::vector<std::string> notes;  ///< what a reader must know: clock below its best, pin refused
};

/// What the caller knows of the thing that was timed.
struct RowSubject {
  std::string model;
  std::int64_t parameters = 0;
  std::string weights;
  std::string kernels;
  std::int64_t bytes_per_step = 0;
  std::string page_size;
  std::string cpu;  ///< Machine::cpu_model
};

/// Percentiles are judged by support.h, with the bound of all watches together. What of a step is
/// exposed to a stall: back to back its p50; under a schedule also the mean stall, since one that
/// began before the event was due delays it as well.
/// Adds a note where the core ran below 95 % of the best clock seen, and where p50 lies between the
/// best and the median pass of the floor.
/// Errors  BrokenBenchmarkError, as check_against_floor(); UsageError without a sample.
LatencyRow make_row(const RowSubject& subject, const Measurement& measured,
                    const StreamingFloor& floor, const TscClock& clock);

/// The row's system calls from a proof and, where it failed, a count.
void set_syscalls(LatencyRow& row, const SyscallProof& proof, const SyscallCount& count = {});

/// One measurement a column, at most 100 characters wide; further columns follow in blocks. A
/// percentile that is not claimed reads "n/a (why)".
std::string table_text(std::span<const LatencyRow> rows);

/// A JSON object; keys are the names of the fields, p99_9_us for p99.9. A percentile that is not
/// claimed and a count that was not made are null; `refused` says why, by key.
std::string to_json(const LatencyRow& row);
/// A JSON array of them.
std::string to_json(std::span<const LatencyRow> rows);

}  // namespace foxhunt::latency
