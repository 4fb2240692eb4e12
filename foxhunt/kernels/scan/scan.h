#pragma once
// All prefixes of a sequence under an associative operator, by an algorithm of choice.
//
//     scan(Blelloch{}, op, in, out);
//     scan(Chunked{.chunk = 512, .pool = &pool}, op, in, out, Inclusion::kExclusive, start);
//
// Algorithms are SequentialScan, HillisSteele, Blelloch and Chunked, each in a header that says
// what it costs; Segmented (segmented.h) turns any operator into one that begins anew at resets,
// and decay.h holds the operator of the state space models. docs/benchmarks.md shows which is fast
// where.
//
// Not to be included by files that are compiled for one instruction set: templates over std.

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <span>
#include <utility>

#include "foxhunt/kernels/scan/operator.h"

namespace foxhunt::kernels {

/// An algorithm may rely on: in.size() == out.size(), and in and out are one range or do not touch.
template <class Algorithm, class Op>
concept ScanAlgorithm = requires(const Algorithm& algorithm, const Op& op,
                                 std::span<const ScanValue<Op>> in, std::span<ScanValue<Op>> out,
                                 Inclusion inclusion, ScanValue<Op> start) {
  algorithm.run(op, in, out, inclusion, std::move(start));
};

/// Errors  ShapeError where the sizes differ or the ranges overlap without being one.
void check_scan_ranges(const void* in, std::int64_t in_size, const void* out, std::int64_t out_size,
                       std::int64_t value_bytes);

/// Writes the prefixes of `in` [T] to `out` [T], T >= 0. `out` may be `in`. `start` comes before
/// the first value: pass the last result to continue a sequence that arrives in parts.
///
/// Errors  ShapeError as check_scan_ranges(), and what the algorithm adds. What combine() throws
///         reaches the caller; `out` then holds valid values, but which ones is not said.
/// Numbers each algorithm brackets the product in its own way, always the same for one T (and one
///         chunk): two runs give equal bits, whatever the values and the number of threads.
template <class Algorithm, ScanOperator Op>
requires ScanAlgorithm<Algorithm, Op>
void scan(const Algorithm& algorithm, const Op& op, std::span<const ScanValue<Op>> in,
          std::span<ScanValue<Op>> out, Inclusion inclusion, ScanValue<Op> start) {
  check_scan_ranges(in.data(), std::ssize(in), out.data(), std::ssize(out), sizeof(ScanValue<Op>));
  if (!in.empty()) algorithm.run(op, in, out, inclusion, std::move(start));
}

template <class Algorithm, ScanOperator Op>
requires ScanAlgorithm<Algorithm, Op>
void scan(const Algorithm& algorithm, const Op& op, std::span<const ScanValue<Op>> in,
          std::span<ScanValue<Op>> out, Inclusion inclusion = Inclusion::kInclusive) {
  scan(algorithm, op, in, out, inclusion, op.identity());
}

/// For algorithms that work in place on `out`.
template <class Value>
void copy_input(std::span<const Value> in, std::span<Value> out) {
  if (in.data() != out.data()) std::copy(in.begin(), in.end(), out.begin());
}

}  // namespace foxhunt::kernels
