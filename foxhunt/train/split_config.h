#pragma once
// Where training ends and validation and test begin.

#include <cstdint>
#include <string>

namespace foxhunt::train {

struct SplitConfig {
  std::string train_begin{};
  std::string train_end{};
  std::string valid_end{};
  std::string test_end{};
  double train_fraction = 0.7;
  double valid_fraction = 0.15;
  std::int64_t embargo_minutes = 60;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("train_begin", c.train_begin,
        "UTC time at which training begins, earlier rows are left out; empty: with the data");
    key("train_end", c.train_end,
        "UTC time at which validation begins; empty: after train_fraction of the rows");
    key("valid_end", c.valid_end,
        "UTC time at which the test begins; empty: after valid_fraction more of the rows");
    key("test_end", c.test_end,
        "UTC time at which the test ends, later rows are left out; empty: with the data");
    key("train_fraction", c.train_fraction, 0.0, 1.0, "share of the rows, by time");
    key("valid_fraction", c.valid_fraction, 0.0, 1.0, "share of the rows, by time");
    key("embargo_minutes", c.embargo_minutes, 0, 1'000'000,
        "no label may end within so many minutes before the next part begins");
  }
};

}  // namespace foxhunt::train
