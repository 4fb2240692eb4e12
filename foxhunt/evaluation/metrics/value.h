#pragma once
// A number, or the reason why there is none. What is undefined never turns into 0 or NaN on its way
// to a report.

#include <cmath>
#include <stdexcept>

namespace foxhunt::evaluation {

class Value {
 public:
  /// Undefined, "not computed".
  Value() = default;

  /// `number`, or undefined ("not finite") when it is not finite.
  static Value of(double number) {
    if (!std::isfinite(number)) return undefined("not finite");
    Value v;
    v.number_ = number;
    v.reason_ = nullptr;
    return v;
  }
  /// numerator / denominator, or undefined for `reason` when the denominator is not above 0.
  static Value ratio(double numerator, double denominator, const char* reason) {
    return denominator > 0 ? of(numerator / denominator) : undefined(reason);
  }
  /// Lifetime  `reason` is kept as a pointer: a string literal.
  static Value undefined(const char* reason) {
    Value v;
    v.reason_ = reason;
    return v;
  }

  bool defined() const { return reason_ == nullptr; }
  explicit operator bool() const { return defined(); }
  /// Errors  std::logic_error with the reason when undefined: whoever asks has to look first.
  double number() const {
    if (!defined()) throw std::logic_error(reason_);
    return number_;
  }
  double operator*() const { return number(); }
  double or_else(double fallback) const { return defined() ? number_ : fallback; }
  /// nullptr when defined.
  const char* reason() const { return reason_; }

 private:
  double number_ = 0;
  const char* reason_ = "not computed";
};

/// Where a number lies, at the level that its maker states. Both ends are defined or neither.
struct Interval {
  Value lo;
  Value hi;

  static Interval undefined(const char* reason) {
    return {Value::undefined(reason), Value::undefined(reason)};
  }
  bool defined() const { return lo.defined() && hi.defined(); }
  bool contains(double x) const { return defined() && *lo <= x && x <= *hi; }
};

}  // namespace foxhunt::evaluation
