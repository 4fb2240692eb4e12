#pragma once
// The learning rate over time: a plain host number a step.
//
// Step t counts from 0. Warm-up: lr (t+1)/w for t < w. Behind it, with x = (t-w+1)/(total-w):
//   cosine    floor + (lr - floor) (1 + cos(pi x)) / 2
//   linear    lr + (floor - lr) x
//   constant  lr
//   step      lr * step_factor^floor((t-w) / step_every)

#include <cstdint>
#include <string>
#include <vector>

namespace foxhunt::train {

enum class ScheduleKind { kCosine, kLinear, kConstant, kStep };

struct ScheduleConfig {
  ScheduleKind kind = ScheduleKind::kCosine;
  double lr = 2e-3;
  double warmup_fraction = 0.1;
  double floor_fraction = 0.05;
  std::int64_t step_every = 1000;
  double step_factor = 0.5;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"cosine", ScheduleKind::kCosine},
                {"linear", ScheduleKind::kLinear},
                {"constant", ScheduleKind::kConstant},
                {"step", ScheduleKind::kStep}},
               "shape behind the warm-up");
    key("lr", c.lr, 0.0, 10.0, "peak learning rate");
    key("warmup_fraction", c.warmup_fraction, 0.0, 1.0, "share of all steps that warm up");
    key("floor_fraction", c.floor_fraction, 0.0, 1.0,
        "last learning rate over the peak (cosine, linear)");
    key("step_every", c.step_every, 1, 1'000'000'000, "steps between two drops (step)");
    key("step_factor", c.step_factor, 0.0, 1.0, "factor of a drop (step)");
  }
};

class Schedule {
 public:
  /// `total_steps` of the whole training, warm-up included.
  Schedule(const ScheduleConfig& config, std::int64_t total_steps);

  double lr(std::int64_t step) const;
  std::int64_t warmup_steps() const { return warmup_; }

 private:
  ScheduleConfig config_;
  std::int64_t total_;
  std::int64_t warmup_;
};

}  // namespace foxhunt::train
