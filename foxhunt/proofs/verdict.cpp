#include "foxhunt/proofs/verdict.h"

#include <fmt/format.h>

#include <cmath>

namespace foxhunt::proofs {

std::string value_text(float value) {
  return std::isnan(value) ? "absent" : fmt::format("{}", value);
}

std::string Counterexample::text() const {
  std::string line = column.empty() ? what : fmt::format("{} at {}", column, to_string(at));
  if (column.empty()) return line;
  return fmt::format("{}: {} became {}; {} {}", line, before, after, what,
                     is_null(t) ? "" : to_string(t));
}

}  // namespace foxhunt::proofs
