#pragma once
// The two-level scan: total of each chunk, scan of the totals, scan of each chunk from its carry.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "foxhunt/base/thread_pool.h"
#include "foxhunt/kernels/scan/sequential.h"

namespace foxhunt::kernels {

/// Errors  ShapeError for chunk < 1.
void check_scan_chunk(std::int64_t chunk);

/// With a pool the chunks are shared out among its threads; without, the calling thread goes group
/// by group, so that a group's second reading meets the cache. Four chunks of small values are
/// walked side by side: one combine need not wait for the last.
///
/// Cost     work 2 T + T / chunk, depth 2 chunk + T / chunk; each value is read twice. Allocates
///          T / chunk values with a pool, four without.
/// Numbers  set by T and `chunk` alone: bits do not depend on `pool` nor on its threads. Within a
///          chunk a product of decays in [0, 1] never grows; over a chunk's end it may by rounding.
/// Errors   ShapeError for chunk < 1; what ThreadPool::run() throws.
/// Source   Blelloch 1990, as blelloch.h: the scan with fewer processors than values.
struct Chunked {
  std::int64_t chunk = 1024;   ///< values; total and scan of one chunk are sequential
  ThreadPool* pool = nullptr;  ///< not owned; must not be running

  template <ScanOperator Op>
  void run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
           Inclusion inclusion, ScanValue<Op> start) const;
};

namespace detail {

/// One chunked scan: where the chunks lie, and the two things that are done to a group of them.
template <ScanOperator Op>
struct ChunkedRun {
  using Value = ScanValue<Op>;
  /// Small plain values: four dependent chains in registers hide each other's latency.
  static constexpr std::size_t kSideBySide =
      std::is_trivially_copyable_v<Value> && sizeof(Value) <= 16 ? 4 : 1;
  static constexpr std::make_index_sequence<kSideBySide> kAll{};

  const Op& op;
  std::span<const Value> in;
  std::span<Value> out;
  Inclusion inclusion;
  std::size_t chunk;

  std::size_t chunks() const { return (in.size() - 1) / chunk + 1; }
  std::size_t groups() const { return (chunks() - 1) / kSideBySide + 1; }

  /// totals[k] of the group's chunks; that of the last chunk of all is never used, so not made.
  void reduce(std::size_t group, Value* totals) const {
    const std::size_t first = group * kSideBySide;
    const std::size_t end = std::min(first + kSideBySide, chunks() - 1);
    if (end == first + kSideBySide) {
      walk<Walk::kTotals>(first, totals, kAll);
      return;
    }
    for (std::size_t c = first; c < end; ++c) {
      Value total = in[c * chunk];
      for (std::size_t i = 1; i < chunk; ++i) total = op.combine(total, in[c * chunk + i]);
      totals[c - first] = std::move(total);
    }
  }

  /// Scans the group's chunks, each from its carry.
  void apply(std::size_t group, Value* carries) const {
    const std::size_t first = group * kSideBySide;
    const std::size_t end = std::min(first + kSideBySide, chunks());
    if (end * chunk <= in.size() && end == first + kSideBySide) {
      inclusion == Inclusion::kInclusive ? walk<Walk::kInclusive>(first, carries, kAll)
                                         : walk<Walk::kExclusive>(first, carries, kAll);
      return;
    }
    for (std::size_t c = first; c < end; ++c) {
      const std::size_t size = std::min(chunk, in.size() - c * chunk);
      SequentialScan().run(op, in.subspan(c * chunk, size), out.subspan(c * chunk, size), inclusion,
                           std::move(carries[c - first]));
    }
  }

  /// The totals of the group's chunks become their carries; `carry` goes on to the next group.
  void carry_over(std::size_t group, Value* totals, Value& carry) const {
    const std::size_t first = group * kSideBySide;
    for (std::size_t c = first; c < std::min(first + kSideBySide, chunks()); ++c) {
      Value& total = totals[c - first];
      if (c + 1 == chunks()) {
        total = std::move(carry);
      } else {
        Value next = op.combine(carry, total);
        total = std::exchange(carry, std::move(next));
      }
    }
  }

  enum class Walk : std::uint8_t { kTotals, kInclusive, kExclusive };

  /// Walks kSideBySide whole chunks in step: from `ends` as carries, or leaving totals there.
  template <Walk kWalk, std::size_t... K>
  void walk(std::size_t first, Value* ends, std::index_sequence<K...>) const {
    constexpr bool kWrites = kWalk != Walk::kTotals;
    const std::array<std::size_t, sizeof...(K)> at{(first + K) * chunk...};
    std::array<Value, sizeof...(K)> now{(kWrites ? ends[K] : in[at[K]])...};
    for (std::size_t i = kWrites ? 0 : 1; i < chunk; ++i) {
      std::array<Value, sizeof...(K)> next{op.combine(now[K], in[at[K] + i])...};
      if constexpr (kWrites) {
        ((out[at[K] + i] = kWalk == Walk::kExclusive ? now[K] : next[K]), ...);
      }
      now = std::move(next);
    }
    if constexpr (!kWrites) ((ends[K] = std::move(now[K])), ...);
  }
};

}  // namespace detail

template <ScanOperator Op>
void Chunked::run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
                  Inclusion inclusion, ScanValue<Op> start) const {
  using Run = detail::ChunkedRun<Op>;
  using Value = ScanValue<Op>;
  check_scan_chunk(chunk);
  const Run r{op, in, out, inclusion, static_cast<std::size_t>(chunk)};
  Value carry = std::move(start);
  if (pool == nullptr) {
    std::vector<Value> ends(Run::kSideBySide, op.identity());
    for (std::size_t group = 0; group < r.groups(); ++group) {
      r.reduce(group, ends.data());
      r.carry_over(group, ends.data(), carry);
      r.apply(group, ends.data());
    }
    return;
  }
  std::vector<Value> ends(r.groups() * Run::kSideBySide, op.identity());
  const auto of = [&](std::size_t group) { return ends.data() + group * Run::kSideBySide; };
  const auto tasks = static_cast<std::int64_t>(r.groups());
  pool->run(tasks, [&](std::int64_t task, int) {
    const auto group = static_cast<std::size_t>(task);
    r.reduce(group, of(group));
  });
  for (std::size_t group = 0; group < r.groups(); ++group) r.carry_over(group, of(group), carry);
  pool->run(tasks, [&](std::int64_t task, int) {
    const auto group = static_cast<std::size_t>(task);
    r.apply(group, of(group));
  });
}

}  // namespace foxhunt::kernels
