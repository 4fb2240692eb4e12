#pragma once
// What a scan runs over: a value, its neutral element, and how two neighbours become one.

#include <concepts>
#include <cstdint>

namespace foxhunt::kernels {

/// A monoid, passed in as an object (it may carry sizes or a modulus):
///
///     using Value                      copyable; not bool, whose vectors share bytes
///     Value identity() const           combine(identity(), x) = combine(x, identity()) = x
///     Value combine(a, b) const        a stands before b
///
/// combine() must be associative: that is the caller's promise, no algorithm can check it. It need
/// not be commutative; every algorithm keeps the order. Where it is associative up to rounding
/// only (floats), algorithms agree up to rounding only. Algorithms with threads call it from
/// several at once.
template <class Op>
concept ScanOperator = requires(const Op& op, const typename Op::Value& a) {
  { op.identity() } -> std::convertible_to<typename Op::Value>;
  { op.combine(a, a) } -> std::convertible_to<typename Op::Value>;
}
&&std::copyable<typename Op::Value> && !std::same_as<typename Op::Value, bool>;

template <ScanOperator Op>
using ScanValue = typename Op::Value;

/// With * for combine and s for the start of the scan:
enum class Inclusion : std::uint8_t {
  kInclusive,  ///< out[t] = s * in[0] * … * in[t]
  kExclusive,  ///< out[t] = s * in[0] * … * in[t - 1], so out[0] = s
};

}  // namespace foxhunt::kernels
