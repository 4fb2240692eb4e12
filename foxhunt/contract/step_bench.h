#pragma once
// Measures the contract: every schedule of every form, each beside the streaming floor of its own
// working set, taken before and after.
//
// The calling thread does it all: pin it first (latency/pin.h), and start no other one, since loads
// and proofs fork.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "foxhunt/contract/report.h"
#include "foxhunt/latency/runner.h"
#include "foxhunt/latency/streaming_floor.h"
#include "foxhunt/latency/syscall_count.h"
#include "foxhunt/latency/syscall_proof.h"

namespace foxhunt::contract {

struct StepBenchOptions {
  std::vector<bundle::WeightForm> forms{};  ///< empty: the bundle's own
  std::vector<std::string> kernels{""};     ///< names of tables; "": the machine's
  std::vector<Timed> timed{Timed::kStep, Timed::kEvent, Timed::kAnswer};
  std::vector<double> gaps_us{20.0, 1000.0};  ///< of the spaced schedules behind back to back
  std::int64_t sessions = 1000;               ///< of the round-robin row; 0: no such row
  bool keep_warm = false;                     ///< spaced: weights are read while waiting
  double seconds = 2.0;                       ///< of each timed loop
  double warm_seconds = 2.0;      ///< before the first row of a form; a quarter before the others
  double control_seconds = 0.25;  ///< before and after each loop
  double floor_seconds = 0.5;     ///< each, before and after
  std::int64_t loads = 9;         ///< 0: not measured
  std::int64_t proof_runs = 10'000;  ///< of the proof of no system calls; 0: none
  /// latency::thread_allocations where the program counts; null: not counted.
  std::int64_t (*allocations)() noexcept = nullptr;
  std::vector<std::string> grants{};
  std::function<void(const std::string&)> say{};  ///< what begins now
};

/// What measures: tests put in their own.
struct Instruments {
  latency::TscClock clock{1.0};
  std::function<latency::Measurement(const latency::EventWork&, const latency::RunPlan&)> measure{};
  std::function<latency::StreamingFloor(std::int64_t bytes)> floor{};
  std::function<latency::SyscallProof(const latency::Work&, std::int64_t runs)> prove{};
  std::function<latency::SyscallCount(const latency::Work&, std::int64_t runs)> count{};
  std::function<std::vector<LoadTimes>(const engine::PlanOptions&, std::span<const float> features)>
      loads{};
};

/// The real ones. `read` is called in child processes, once a load.
/// Errors  DeviceError: no usable counter.
Instruments real_instruments(const ReadBundle& read, const StepBenchOptions& options);

/// `name` stands for the model in rows. A form that cannot be packed, or a table that cannot run
/// here, is a refusal, unless nothing is left.
/// Errors  BrokenBenchmarkError: a p50 below its floor; ConfigError: every form was refused;
/// DataError: no record is answered; UsageError: nothing to time; InterruptedError.
Report bench_step(const bundle::Bundle& bundle, const std::string& name,
                  const StepBenchOptions& options, const Instruments& instruments);

}  // namespace foxhunt::contract
