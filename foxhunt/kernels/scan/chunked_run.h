#pragma once
// What Chunked does to a group of chunks. Chunked decides who does it when.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>

#include "foxhunt/kernels/scan/sequential.h"

namespace foxhunt::kernels {

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

  /// Whether the chunks are as many and as long as walk() wants them.
  bool whole(std::size_t first, std::size_t end) const {
    return end == first + kSideBySide && end * chunk <= in.size();
  }

  /// totals[k] of the group's chunks; nobody needs that of the last chunk of all.
  void reduce(std::size_t group, Value* totals) const {
    const std::size_t first = group * kSideBySide;
    const std::size_t end = std::min(first + kSideBySide, chunks());
    if (whole(first, end)) {
      walk<Walk::kTotals>(first, totals, kAll);
      return;
    }
    for (std::size_t c = first; c < std::min(end, chunks() - 1); ++c) {
      Value total = in[c * chunk];
      for (std::size_t i = 1; i < chunk; ++i) total = op.combine(total, in[c * chunk + i]);
      totals[c - first] = std::move(total);
    }
  }

  /// Scans the group's chunks, each from its carry.
  void apply(std::size_t group, Value* carries) const {
    const std::size_t first = group * kSideBySide;
    const std::size_t end = std::min(first + kSideBySide, chunks());
    if (whole(first, end)) {
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
      Value next = c + 1 < chunks() ? op.combine(carry, total) : op.identity();
      total = std::exchange(carry, std::move(next));
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

}  // namespace foxhunt::kernels
