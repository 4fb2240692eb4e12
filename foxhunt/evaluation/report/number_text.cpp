#include "foxhunt/evaluation/report/number_text.h"

#include <fmt/format.h>

#include <cmath>

namespace foxhunt::evaluation {
namespace {

/// The format of numbers of this size: decimals, or -1 for the scientific form.
int decimals_of(double scale) {
  const double size = std::abs(scale);
  if (size == 0) return 4;
  if (size < 1e-4 || size >= 1e7) return -1;
  if (size >= 1000) return 1;
  if (size >= 100) return 2;
  if (size >= 10) return 3;
  if (size >= 0.01) return 4;
  return size >= 0.001 ? 5 : 6;
}

std::string text(double x, double scale, bool sign) {
  const int decimals = decimals_of(scale);
  std::string digits = decimals < 0 ? fmt::format("{:.2e}", std::abs(x))
                                    : fmt::format("{:.{}f}", std::abs(x), decimals);
  const bool zero =
      digits.find_first_of("123456789") == std::string::npos;  // also -0.00001 to four decimals
  if (zero) return digits;
  return (x < 0 ? "-" : sign ? "+" : "") + digits;
}

}  // namespace

std::string number_text(double x, double scale) { return text(x, scale, false); }
std::string number_text(double x) { return text(x, x, false); }
std::string signed_number_text(double x, double scale) { return text(x, scale, true); }

std::string count_text(double n) {
  std::string digits = fmt::format("{:.0f}", n);
  for (auto i = static_cast<std::ptrdiff_t>(digits.size()) - 3; i > 0; i -= 3) {
    digits.insert(static_cast<std::size_t>(i), ",");
  }
  return digits;
}

}  // namespace foxhunt::evaluation
