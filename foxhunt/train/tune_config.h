#pragma once
// Where better settings are looked for, and how: the [tune] section.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace foxhunt::train {

enum class TuneMethod { kRandom, kHalving };

struct TuneConfig {
  std::vector<std::string> ranges{};
  TuneMethod method = TuneMethod::kRandom;
  std::int64_t trials = 20;
  std::int64_t seed = 1;
  std::int64_t min_epochs = 2;
  std::int64_t eta = 3;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key("ranges", c.ranges,
        "what is tried, as 'train.schedule.lr = log(1e-5, 1e-2)': uniform(lo, hi), log(lo, hi), "
        "integer(lo, hi), log_integer(lo, hi), ends included, or choice(a, b, …), of any key");
    key.choice("method", c.method,
               {{"random", TuneMethod::kRandom}, {"halving", TuneMethod::kHalving}},
               "random: every trial trains to its end; halving: all train min_epochs, the best one "
               "in eta goes on to eta times as many, and so on");
    key("trials", c.trials, 1, 1'000'000, "settings drawn");
    key("seed", c.seed, 0, std::numeric_limits<std::int64_t>::max(),
        "of the draws; a trial depends on it, its number and the range alone");
    key("min_epochs", c.min_epochs, 1, 1'000'000, "halving: epochs before the first choice");
    key("eta", c.eta, 2, 1'000, "halving: one in so many goes on");
  }
};

}  // namespace foxhunt::train
