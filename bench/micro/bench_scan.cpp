// Where each scan algorithm wins: lengths, widths of a value, one thread and two.
//
// docs/benchmarks.md holds the command and the table that bench/micro/scan_table.py makes of it.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/base/thread_pool.h"
#include "foxhunt/kernels/scan/blelloch.h"
#include "foxhunt/kernels/scan/chunked.h"
#include "foxhunt/kernels/scan/decay.h"
#include "foxhunt/kernels/scan/hillis_steele.h"
#include "foxhunt/kernels/scan/scan.h"
#include "foxhunt/kernels/scan/sequential.h"

namespace foxhunt::kernels {
namespace {

constexpr std::int64_t kLargestBytes = std::int64_t{80} << 20;  // of one of the two ranges

/// Steps of long memory: over the longest sequence the product stays far from denormals, whose cost
/// differs between CPUs and would be measured instead.
template <class Value>
std::vector<Value> draw_steps(std::int64_t size, bool logarithms) {
  Rng rng(1);
  std::vector<Value> steps(static_cast<std::size_t>(size));
  for (Value& step : steps) {
    auto& [increment, decay] = step;
    const double log = -1e-5 * rng.uniform();
    decay = static_cast<float>(logarithms ? log : std::exp(log));
    for (float& x : increment) x = static_cast<float>(rng.uniform(-1, 1));
  }
  return steps;
}

template <class Op, class Algorithm>
void time_scan(benchmark::State& state, const Algorithm& algorithm, std::int64_t size,
               bool logarithms) {
  const auto in = draw_steps<ScanValue<Op>>(size, logarithms);
  auto out = in;
  for ([[maybe_unused]] auto _ : state) {
    scan(algorithm, Op(), in, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * size);
}

/// `kind` is "decay/16" or the like: operator and channels.
template <class Op>
void register_lengths(const char* kind, bool logarithms) {
  static ThreadPool one(1);
  static ThreadPool two(2);
  for (const std::int64_t size : {16, 256, 4096, 65536, 262144, 1048576}) {
    if (size * static_cast<std::int64_t>(sizeof(ScanValue<Op>)) > kLargestBytes) continue;
    const auto add = [&](const char* name, const auto& algorithm) {
      return benchmark::RegisterBenchmark(
          fmt::format("{}/{}/{}", kind, size, name).c_str(),
          [=](benchmark::State& state) { time_scan<Op>(state, algorithm, size, logarithms); });
    };
    add("sequential", SequentialScan{});
    add("hillis_steele", HillisSteele{});
    add("blelloch", Blelloch{});
    add("chunked", Chunked{});
    add("chunked_1_thread", Chunked{.pool = &one})->UseRealTime();
    add("chunked_2_threads", Chunked{.pool = &two})->UseRealTime();
  }
}

void time_pool(benchmark::State& state, int threads) {
  ThreadPool pool(threads);
  for ([[maybe_unused]] auto _ : state) pool.run(threads, [](std::int64_t, int) {});
}

void time_chunks(benchmark::State& state, std::int64_t chunk) {
  time_scan<DecayOperator<float>>(state, Chunked{.chunk = chunk}, 1 << 20, false);
}

void register_all() {
  register_lengths<DecayOperator<float, 1>>("decay/1", false);
  register_lengths<DecayOperator<float, 16>>("decay/16", false);
  register_lengths<DecayOperator<float, 64>>("decay/64", false);
  register_lengths<LogDecayOperator<float, 1>>("log_decay/1", true);
  for (const std::int64_t chunk : {64, 256, 1024, 1040, 4096, 16384}) {
    benchmark::RegisterBenchmark(fmt::format("chunk/{}", chunk).c_str(),
                                 [=](benchmark::State& state) { time_chunks(state, chunk); });
  }
  for (const int threads : {1, 2}) {
    benchmark::RegisterBenchmark(fmt::format("empty_run/{}", threads).c_str(),
                                 [=](benchmark::State& state) { time_pool(state, threads); })
        ->UseRealTime();
  }
}

}  // namespace
}  // namespace foxhunt::kernels

int main(int argc, char** argv) {
  foxhunt::kernels::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
