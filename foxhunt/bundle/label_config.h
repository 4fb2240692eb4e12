#pragma once
// What a model is to learn: the direction or the size of the move over the next bars, or which of
// two barriers the price meets first.

#include <cstdint>

namespace foxhunt::bundle {

enum class LabelKind : std::uint8_t { kDirection, kReturn, kBarrier };
/// Whether a label is a class (down, flat, up) rather than a number.
constexpr bool is_class(LabelKind kind) { return kind != LabelKind::kReturn; }
enum class DeadZoneUnit : std::uint8_t { kVolatility, kTicks };

struct LabelConfig {
  LabelKind kind = LabelKind::kDirection;
  std::int64_t horizon = 10;
  double dead_zone = 0.4;
  DeadZoneUnit dead_zone_unit = DeadZoneUnit::kVolatility;
  std::int64_t volatility_span = 60;
  bool scale_return = true;
  std::int64_t smooth_future = 1;
  std::int64_t smooth_past = 1;
  double barrier_up = 1.0;
  double barrier_down = 1.0;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"direction", LabelKind::kDirection},
                {"return", LabelKind::kReturn},
                {"barrier", LabelKind::kBarrier}},
               "learn the class down, flat, up of the move, the return itself, or the barrier "
               "that is met first");
    key("horizon", c.horizon, 1, 1000, "bars ahead of the decision; at most to the sequence's end");
    key("dead_zone", c.dead_zone, 0.0, 1e6, "moves up to this size are flat");
    key.choice("dead_zone_unit", c.dead_zone_unit,
               {{"volatility", DeadZoneUnit::kVolatility}, {"ticks", DeadZoneUnit::kTicks}},
               "past volatility over the horizon, or ticks of the contract");
    key("volatility_span", c.volatility_span, 2, 1000, "bars of past behind that volatility");
    key("scale_return", c.scale_return, "the return in units of past volatility instead of raw");
    key("smooth_future", c.smooth_future, 1, 1000,
        "closes, up to the horizon, whose mean is moved to; at most the horizon");
    key("smooth_past", c.smooth_past, 1, 1000,
        "closes, up to the decision, whose mean is moved from; above 1 a random walk is forecast, "
        "too: evaluation prints how well");
    key("barrier_up", c.barrier_up, 0.01, 1e6,
        "of barrier: upper one, in past volatilities over the horizon");
    key("barrier_down", c.barrier_down, 0.01, 1e6, "of barrier: lower one, as barrier_up");
  }

  /// Whether a label needs volatility_span one-bar returns of past.
  bool uses_volatility() const {
    return kind == LabelKind::kBarrier || scale_return ||
           dead_zone_unit == DeadZoneUnit::kVolatility;
  }
  /// Whether the label moves from or to a mean of closes.
  bool is_smoothed() const {
    return kind != LabelKind::kBarrier && (smooth_future > 1 || smooth_past > 1);
  }
};

}  // namespace foxhunt::bundle
