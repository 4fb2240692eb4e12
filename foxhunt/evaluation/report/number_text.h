#pragma once
// Numbers as people read them: the same digits for numbers that are read side by side.

#include <string>

namespace foxhunt::evaluation {

/// `x` with about four digits of `scale`, the largest of the numbers beside it: 1.0712, 0.02134,
/// 0.000211, 2.11e-05.
std::string number_text(double x, double scale);
std::string number_text(double x);
/// The same with its sign, "+0.0003".
std::string signed_number_text(double x, double scale);
/// 12,345
std::string count_text(double n);

}  // namespace foxhunt::evaluation
