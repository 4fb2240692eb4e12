#pragma once
// One number as a vector of one lane, in float or double: the table that runs everywhere, and the
// float64 form of every algorithm that the tests hold against autograd.
//
// Everything in isa/ has internal linkage: an inline function compiled with and without AVX-512
// would be one symbol, and the linker would keep whichever it saw first.

#include <stdint.h>

namespace foxhunt::kernels {
namespace {

template <class T>
struct ScalarVec {
  using Elem = T;
  static constexpr int kLanes = 1;
  static constexpr unsigned kBlockRows = 4;  ///< rows of a matrix product's register block
  static constexpr bool kOwnMath = false;
  static constexpr bool kTurns8 = false;  ///< turn8(): see transpose8.h

  T v;
  static ScalarVec zero() { return {T(0)}; }
  static ScalarVec all(T x) { return {x}; }
  static ScalarVec load(const T* p) { return {*p}; }
  static ScalarVec load_n(const T* p, int64_t) { return {*p}; }
  void store(T* p) const { *p = v; }
  void store_n(T* p, int64_t) const { *p = v; }
  T sum() const { return v; }

  friend ScalarVec operator+(ScalarVec a, ScalarVec b) { return {a.v + b.v}; }
  friend ScalarVec operator-(ScalarVec a, ScalarVec b) { return {a.v - b.v}; }
  friend ScalarVec operator*(ScalarVec a, ScalarVec b) { return {a.v * b.v}; }
  friend ScalarVec operator/(ScalarVec a, ScalarVec b) { return {a.v / b.v}; }
  friend ScalarVec fma(ScalarVec a, ScalarVec b, ScalarVec c) { return {a.v * b.v + c.v}; }
  /// NaN in b stays NaN.
  friend ScalarVec max(ScalarVec a, ScalarVec b) { return {a.v > b.v ? a.v : b.v}; }
  friend ScalarVec min(ScalarVec a, ScalarVec b) { return {a.v < b.v ? a.v : b.v}; }
  /// a < b ? yes : no
  friend ScalarVec where_less(ScalarVec a, ScalarVec b, ScalarVec yes, ScalarVec no) {
    return {a.v < b.v ? yes.v : no.v};
  }
};

inline float libm_exp(float x) { return __builtin_expf(x); }
inline double libm_exp(double x) { return __builtin_exp(x); }
inline float libm_log1p(float x) { return __builtin_log1pf(x); }
inline double libm_log1p(double x) { return __builtin_log1p(x); }
inline float libm_sqrt(float x) { return __builtin_sqrtf(x); }
inline double libm_sqrt(double x) { return __builtin_sqrt(x); }

}  // namespace
}  // namespace foxhunt::kernels
