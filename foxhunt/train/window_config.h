#pragma once
// How sequences are cut into training windows.

#include <cstdint>

namespace foxhunt::train {

struct WindowConfig {
  std::int64_t length = 256;
  std::int64_t burn_in = 32;
  std::int64_t stride = 0;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("length", c.length, 1, 1'000'000, "rows of a training window");
    key("burn_in", c.burn_in, 0, 1'000'000,
        "first rows of a window that only fill the state, unless it begins its sequence");
    key("stride", c.stride, 0, 1'000'000, "rows from one window to the next; 0: length - burn_in");
  }

  std::int64_t step() const { return stride > 0 ? stride : length - burn_in; }
};

}  // namespace foxhunt::train
