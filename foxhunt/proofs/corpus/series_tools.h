#pragma once
// Small tools for columns that are made of all bars at once.

#include <chrono>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "foxhunt/market/record.h"
#include "foxhunt/proofs/source.h"

namespace foxhunt::proofs {

using Values = std::vector<float>;
using Bars = std::span<const market::Bar>;

inline double close_of(const market::Bar& bar) { return bar.close.to_double(); }

/// Of bar i; places outside of the data and prices that are none give kNoValue.
inline double close_at(Bars bars, std::ptrdiff_t i) {
  if (i < 0 || i >= std::ssize(bars)) return static_cast<double>(kNoValue);
  return close_of(bars[static_cast<std::size_t>(i)]);
}

/// A value a bar: `value(i)` for each place.
template <class Function>
Values each(Bars bars, Function value) {
  Values out;
  out.reserve(bars.size());
  for (std::ptrdiff_t i = 0; i < std::ssize(bars); ++i) out.push_back(static_cast<float>(value(i)));
  return out;
}

inline bool begins_session(Bars bars, std::ptrdiff_t i) {
  const auto at = static_cast<std::size_t>(i);
  return i == 0 || bars[at].start - bars[at - 1].end() > std::chrono::minutes{30};
}

/// Minutes since 1970 of the beginning of bar i, and of its end.
inline std::int64_t start_minute(const market::Bar& bar) {
  return std::chrono::floor<std::chrono::minutes>(bar.start).time_since_epoch().count();
}
inline std::int64_t end_minute(const market::Bar& bar) {
  return std::chrono::floor<std::chrono::minutes>(bar.end()).time_since_epoch().count();
}

/// Log return from place i to place j, kNoValue outside of the data.
inline double log_move(Bars bars, std::ptrdiff_t i, std::ptrdiff_t j) {
  return std::log(close_at(bars, j) / close_at(bars, i));
}

/// Mean of the closes of [i, j], kNoValue where it is not all there.
inline double mean_close(Bars bars, std::ptrdiff_t i, std::ptrdiff_t j) {
  double sum = 0;
  for (std::ptrdiff_t k = i; k <= j; ++k) sum += close_at(bars, k);
  return sum / static_cast<double>(j - i + 1);
}

}  // namespace foxhunt::proofs
