#include "foxhunt/latency/streaming_floor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/latency/large_buffer.h"
#include "foxhunt/latency/stream_readers.h"

namespace foxhunt::latency {
namespace {

/// Passes of one contender before the next has its turn: the first ones find other code's traces.
constexpr int kTurnPasses = 32;
constexpr int kUntimedPasses = 2;
constexpr std::size_t kMostSamples = 1 << 16;

struct Runner {
  const StreamReader* reader;
  std::vector<std::uint64_t> ticks;
};

void take_turn(Runner& runner, const float* floats, std::int64_t count) {
  volatile float sink = 0.0F;
  for (int pass = 0; pass < kUntimedPasses + kTurnPasses; ++pass) {
    const std::uint64_t start = read_tsc();
    const float value = runner.reader->read(floats, count);
    const std::uint64_t end = read_tsc();
    sink = value;
    if (pass >= kUntimedPasses && runner.ticks.size() < runner.ticks.capacity()) {
      runner.ticks.push_back(end - start);
    }
  }
  static_cast<void>(sink);
}

void choose_fastest(StreamingFloor& floor) {
  const auto fastest = std::min_element(
      floor.contenders.begin(), floor.contenders.end(),
      [](const FloorContender& a, const FloorContender& b) { return a.median_us < b.median_us; });
  floor.floor_us = fastest->median_us;
  floor.fastest = fastest->name;
  floor.best_us = std::min_element(floor.contenders.begin(), floor.contenders.end(),
                                   [](const FloorContender& a, const FloorContender& b) {
                                     return a.best_us < b.best_us;
                                   })
                      ->best_us;
  floor.gb_per_s = static_cast<double>(floor.bytes) / (floor.floor_us * 1e3);
}

}  // namespace

StreamingFloor measure_streaming_floor(std::int64_t bytes, const TscClock& clock, double seconds) {
  if (bytes < 1 || !(seconds > 0.0 && std::isfinite(seconds))) {
    throw UsageError(fmt::format(
        "[latency] a streaming floor of {} bytes in {} s: both must be > 0", bytes, seconds));
  }
  constexpr std::int64_t kBlock = kReaderFloats * static_cast<std::int64_t>(sizeof(float));
  const std::int64_t blocks = std::max<std::int64_t>(bytes / kBlock, 1);
  const std::int64_t count = blocks * kReaderFloats;
  const LargeBuffer buffer(blocks * kBlock);

  std::vector<Runner> runners;
  for (const StreamReader& reader : stream_readers()) {
    if (!reader.runs_here()) continue;
    Runner& runner = runners.emplace_back(Runner{.reader = &reader, .ticks = {}});
    runner.ticks.reserve(kMostSamples);
  }
  const std::uint64_t warm = clock.ticks(seconds * 1e8);
  for (const std::uint64_t start = read_tsc(); read_tsc() - start < warm;) {
    take_turn(runners.front(), buffer.floats(), count);
  }
  runners.front().ticks.clear();
  const std::uint64_t length = clock.ticks(seconds * 9e8);
  const std::uint64_t start = read_tsc();
  do {
    for (Runner& runner : runners) take_turn(runner, buffer.floats(), count);
  } while (read_tsc() - start < length);

  StreamingFloor floor{.bytes = blocks * kBlock, .fastest = {}, .contenders = {}};
  for (Runner& runner : runners) {
    std::sort(runner.ticks.begin(), runner.ticks.end());
    floor.contenders.push_back({.name = runner.reader->name,
                                .median_us = clock.us(runner.ticks[runner.ticks.size() / 2]),
                                .best_us = clock.us(runner.ticks.front())});
  }
  choose_fastest(floor);
  return floor;
}

StreamingFloor lower_of(const StreamingFloor& a, const StreamingFloor& b) {
  if (a.bytes != b.bytes || a.contenders.size() != b.contenders.size()) {
    throw UsageError(fmt::format(
        "[latency] floors of {} and {} bytes are of different working sets", a.bytes, b.bytes));
  }
  StreamingFloor lower = a;
  for (std::size_t i = 0; i < a.contenders.size(); ++i) {
    FloorContender& one = lower.contenders[i];
    one.median_us = std::min(one.median_us, b.contenders[i].median_us);
    one.best_us = std::min(one.best_us, b.contenders[i].best_us);
  }
  if (!lower.contenders.empty()) choose_fastest(lower);
  return lower;
}

void check_against_floor(double p50_us, const StreamingFloor& floor) {
  const bool sane =
      std::isfinite(p50_us) && p50_us > 0.0 && std::isfinite(floor.best_us) && floor.best_us > 0.0;
  if (sane && p50_us >= (1.0 - kFloorTolerance) * floor.best_us) return;
  throw BrokenBenchmarkError(fmt::format(
      "[latency] a step with p50 {:.4g} us cannot have read its {} bytes: this core takes {:.4g} "
      "us "
      "at best and {:.4g} us by median ({:.4g} GB/s, {}) to read them and do nothing else. The "
      "benchmark is broken: work was left out, or its bytes were counted wrongly",
      p50_us, floor.bytes, floor.best_us, floor.floor_us, floor.gb_per_s, floor.fastest));
}

}  // namespace foxhunt::latency
