#include <algorithm>

#include "foxhunt/kernels/cuda/self_test.h"

namespace foxhunt::kernels::cuda {

bool SelfTestReport::passed() const {
  return std::all_of(lines.begin(), lines.end(), [](const auto& line) { return line.passed(); });
}

const SelfTestLine& SelfTestReport::worst() const {
  // A bound of 0 that is met must not hide the others; one that is broken stands above all.
  const auto share = [](const SelfTestLine& line) {
    if (line.bound == 0.0) return line.error == 0.0 ? 0.0 : 1e300;
    return line.error / line.bound;
  };
  return *std::max_element(lines.begin(), lines.end(),
                           [&](const auto& a, const auto& b) { return share(a) < share(b); });
}

}  // namespace foxhunt::kernels::cuda
