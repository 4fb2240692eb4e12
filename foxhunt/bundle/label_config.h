#pragma once
// What a model is to learn: the direction or the size of the move over the next bars.

#include <cstdint>

namespace foxhunt::bundle {

enum class LabelKind : std::uint8_t { kDirection, kReturn };
enum class DeadZoneUnit : std::uint8_t { kVolatility, kTicks };

struct LabelConfig {
  LabelKind kind = LabelKind::kDirection;
  std::int64_t horizon = 10;
  double dead_zone = 0.4;
  DeadZoneUnit dead_zone_unit = DeadZoneUnit::kVolatility;
  std::int64_t volatility_span = 60;
  bool scale_return = true;

  template <class Self, class Visitor>
  static void describe(Self& c, Visitor&& key) {
    key.choice("kind", c.kind,
               {{"direction", LabelKind::kDirection}, {"return", LabelKind::kReturn}},
               "learn the class down, flat, up, or the return itself");
    key("horizon", c.horizon, 1, 1000, "bars ahead of the decision; at most to the sequence's end");
    key("dead_zone", c.dead_zone, 0.0, 1e6, "moves up to this size are flat");
    key.choice("dead_zone_unit", c.dead_zone_unit,
               {{"volatility", DeadZoneUnit::kVolatility}, {"ticks", DeadZoneUnit::kTicks}},
               "past volatility over the horizon, or ticks of the contract");
    key("volatility_span", c.volatility_span, 2, 1000, "bars of past behind that volatility");
    key("scale_return", c.scale_return, "the return in units of past volatility instead of raw");
  }

  /// Whether a label needs volatility_span one-bar returns of past.
  bool uses_volatility() const {
    return scale_return || dead_zone_unit == DeadZoneUnit::kVolatility;
  }
};

}  // namespace foxhunt::bundle
