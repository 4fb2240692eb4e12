#pragma once
// The two-level scan: total of each chunk, scan of the totals, scan of each chunk from its carry.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "foxhunt/base/thread_pool.h"
#include "foxhunt/kernels/scan/chunked_run.h"

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

template <ScanOperator Op>
void Chunked::run(const Op& op, std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
                  Inclusion inclusion, ScanValue<Op> start) const {
  using Run = ChunkedRun<Op>;
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
