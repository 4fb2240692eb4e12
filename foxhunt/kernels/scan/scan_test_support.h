#pragma once
// Operators and the list of algorithms that the tests of scans share.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/base/rng.h"
#include "foxhunt/base/thread_pool.h"
#include "foxhunt/kernels/scan/blelloch.h"
#include "foxhunt/kernels/scan/chunked.h"
#include "foxhunt/kernels/scan/hillis_steele.h"
#include "foxhunt/kernels/scan/scan.h"
#include "foxhunt/kernels/scan/sequential.h"

namespace foxhunt::kernels::test {

/// Sums of integers: exact, commutative.
struct Sum {
  using Value = std::int64_t;
  Value identity() const { return 0; }
  Value combine(Value a, Value b) const { return a + b; }
  static Value draw(Rng& rng) { return static_cast<Value>(rng.below(2001)) - 1000; }
};

/// Strings joined: keeps order and count of everything that came in; not trivially copyable.
struct Concat {
  using Value = std::string;
  Value identity() const { return ""; }
  Value combine(const Value& a, const Value& b) const { return a + b; }
  static Value draw(Rng& rng) { return std::string(1 + rng.below(2), char('a' + rng.below(26))); }
};

/// 2x2 matrices modulo a prime: exact, not commutative, small enough to be walked side by side.
struct Matrices {
  using Value = std::array<std::uint32_t, 4>;
  static constexpr std::uint64_t kPrime = 65521;
  Value identity() const { return {1, 0, 0, 1}; }
  Value combine(const Value& a, const Value& b) const {
    const auto dot = [](std::uint64_t p, std::uint64_t q, std::uint64_t r, std::uint64_t s) {
      return static_cast<std::uint32_t>((p * q + r * s) % kPrime);
    };
    return {dot(a[0], b[0], a[1], b[2]), dot(a[0], b[1], a[1], b[3]), dot(a[2], b[0], a[3], b[2]),
            dot(a[2], b[1], a[3], b[3])};
  }
  static Value draw(Rng& rng) {
    Value v;
    for (std::uint32_t& x : v) x = static_cast<std::uint32_t>(rng.below(kPrime));
    return v;
  }
};

template <class Op>
std::vector<ScanValue<Op>> draw(std::size_t size, Rng& rng) {
  std::vector<ScanValue<Op>> values;
  for (std::size_t t = 0; t < size; ++t) values.push_back(Op::draw(rng));
  return values;
}

/// The definition, sharing no code with the algorithms.
template <class Op>
std::vector<ScanValue<Op>> prefixes(const Op& op, const std::vector<ScanValue<Op>>& in,
                                    Inclusion inclusion, ScanValue<Op> prefix) {
  std::vector<ScanValue<Op>> out;
  for (const auto& value : in) {
    if (inclusion == Inclusion::kExclusive) out.push_back(prefix);
    prefix = op.combine(prefix, value);
    if (inclusion == Inclusion::kInclusive) out.push_back(prefix);
  }
  return out;
}

/// Calls check(algorithm, name) for every algorithm, Chunked with chunks that divide nothing, are
/// longer than the sequence, and with threads.
template <class Check>
void with_every_algorithm(Check&& check) {
  check(SequentialScan{}, "sequential");
  check(HillisSteele{}, "Hillis-Steele");
  check(Blelloch{}, "Blelloch");
  for (const std::int64_t chunk : {1, 2, 3, 5, 16, 1000}) {
    check(Chunked{.chunk = chunk}, "chunked by " + std::to_string(chunk));
  }
  static ThreadPool pool(3);
  for (const std::int64_t chunk : {1, 4, 7, 64}) {
    check(Chunked{.chunk = chunk, .pool = &pool},
          "chunked by " + std::to_string(chunk) + " on 3 threads");
  }
}

}  // namespace foxhunt::kernels::test
