#pragma once
// Numbers as people read them: the same digits for numbers that are read side by side.

#include <string>

namespace foxhunt::evaluation {

/// `x` with three digits or more of `scale`, the largest of the numbers beside it: 1.0712, 0.0213,
/// 0.00213, 2.13e-05.
std::string number_text(double x, double scale);
std::string number_text(double x);
/// The same with its sign, "+0.0003".
std::string signed_number_text(double x, double scale);
/// 12,345
std::string count_text(double n);

}  // namespace foxhunt::evaluation
