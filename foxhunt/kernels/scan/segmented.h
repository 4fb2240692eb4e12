#pragma once
// Scans that begin anew at resets (a new contract, session or packed sequence), by any algorithm.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "foxhunt/kernels/scan/scan.h"

namespace foxhunt::kernels {

/// A run of values: all of it, or what follows the last reset in it.
template <class Inner>
struct SegmentedValue {
  Inner value;
  bool reset;  ///< there is a reset in the run: nothing before it reaches past it
};

/// Any operator, made to forget at resets; associative where `Op` is.
///
/// Numbers  what stands before a reset is not read, rather than multiplied by 0: neither its bits
///          nor its NaN can come through (0 NaN, the decay of 0 some use for this, is NaN).
/// Source   Blelloch 1990, CMU-CS-90-190 (segmented scans).
template <ScanOperator Op>
struct Segmented {
  using Value = SegmentedValue<ScanValue<Op>>;
  Op op;

  Value identity() const { return {op.identity(), false}; }
  Value combine(const Value& a, const Value& b) const {
    if (b.reset) return b;
    return {op.combine(a.value, b.value), a.reset};
  }
};

/// Errors  ShapeError where the sizes differ.
void check_resets(std::int64_t values, std::int64_t resets);

/// resets[t] = whether ids[t] differs from the id before it; `id_before` stands before ids[0].
std::vector<std::uint8_t> resets_from_ids(std::span<const std::int64_t> ids,
                                          std::int64_t id_before);
/// The same with a reset at 0.
std::vector<std::uint8_t> resets_from_ids(std::span<const std::int64_t> ids);

/// scan() of each segment by itself. resets[t] != 0: a segment begins with in[t]. `start` reaches
/// the first segment only, and not even that if resets[0]; later segments start from identity(),
/// which an exclusive scan shows at each reset.
///
/// Errors  as scan(), and ShapeError where `resets` has not T flags.
/// Numbers values before a reset change no bit of what follows it. With SequentialScan the result
///         equals that of each segment alone bit for bit, others bracket by place in the whole.
/// Cost    as the algorithm over values one flag larger; allocates T of them.
template <class Algorithm, ScanOperator Op>
void segmented_scan(const Algorithm& algorithm, const Op& op, std::span<const ScanValue<Op>> in,
                    std::span<const std::uint8_t> resets, std::span<ScanValue<Op>> out,
                    Inclusion inclusion, ScanValue<Op> start) {
  check_resets(std::ssize(in), std::ssize(resets));
  check_scan_ranges(in.data(), std::ssize(in), out.data(), std::ssize(out), sizeof(ScanValue<Op>));
  using Lifted = Segmented<Op>;
  std::vector<ScanValue<Lifted>> runs;
  runs.reserve(in.size());
  for (std::size_t t = 0; t < in.size(); ++t) runs.push_back({in[t], resets[t] != 0});
  scan(algorithm, Lifted{op}, std::span<const ScanValue<Lifted>>(runs),
       std::span<ScanValue<Lifted>>(runs), inclusion, {std::move(start), false});
  const bool exclusive = inclusion == Inclusion::kExclusive;
  for (std::size_t t = 0; t < out.size(); ++t) {
    out[t] = exclusive && resets[t] != 0 ? op.identity() : std::move(runs[t].value);
  }
}

template <class Algorithm, ScanOperator Op>
void segmented_scan(const Algorithm& algorithm, const Op& op, std::span<const ScanValue<Op>> in,
                    std::span<const std::uint8_t> resets, std::span<ScanValue<Op>> out,
                    Inclusion inclusion = Inclusion::kInclusive) {
  segmented_scan(algorithm, op, in, resets, out, inclusion, op.identity());
}

}  // namespace foxhunt::kernels
