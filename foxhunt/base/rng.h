#pragma once
// Random numbers that are the same on every machine and compiler.
//
// xoshiro256** seeded through splitmix64. The distributions of <random> differ between standard
// libraries; these do not. A function that draws takes an Rng&; a seed is split by purpose, so that
// a new draw in one place moves no other.

#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>

namespace foxhunt {

class Rng {
 public:
  explicit Rng(std::uint64_t seed) : seed_(seed) {
    for (auto& word : state_) word = splitmix(seed);
  }

  /// A stream of its own for one purpose: rng.split("shuffle"). Depends on the seed and the name
  /// only.
  Rng split(std::string_view purpose) const { return Rng(split_seed(purpose)); }

  /// The seed of split(purpose), for generators of other libraries.
  std::uint64_t split_seed(std::string_view purpose) const {
    std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a
    for (const char c : purpose) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
    std::uint64_t mixed = seed_ ^ hash;
    return splitmix(mixed);
  }

  std::uint64_t next() {
    const std::uint64_t result = rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotl(state_[3], 45);
    return result;
  }

  /// Uniform in [0, 1), 53 bits.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }
  double uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

  /// Uniform in [0, n) without bias; n > 0.
  std::uint64_t below(std::uint64_t n) {
    const std::uint64_t limit = n * (~std::uint64_t{0} / n);
    std::uint64_t draw = next();
    while (draw >= limit) draw = next();
    return draw % n;
  }

  /// Standard normal (Box-Muller, one value a call).
  double normal() {
    const double u = 1.0 - uniform();  // (0, 1]
    return std::sqrt(-2.0 * std::log(u)) * std::cos(6.283185307179586 * uniform());
  }

  /// Fisher-Yates.
  template <class Container>
  void shuffle(Container& items) {
    for (std::uint64_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  static std::uint64_t rotl(std::uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }
  static std::uint64_t splitmix(std::uint64_t& x) {
    x += 0x9e3779b97f4a7c15ULL;
    std::uint64_t z = x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  std::uint64_t seed_;
  std::uint64_t state_[4];
};

}  // namespace foxhunt
