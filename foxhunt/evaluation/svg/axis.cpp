#include "foxhunt/evaluation/svg/axis.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/evaluation/report/number_text.h"

namespace foxhunt::evaluation::svg {
namespace {

constexpr double kTickSize = 11.5;
constexpr double kLabelSize = 12;

}  // namespace

std::string Ticks::label(double x) const {
  if (std::abs(x) >= 1e6 || (x != 0 && step < 1e-5)) return fmt::format("{:g}", x);
  if (step >= 1) return (x < 0 ? "-" : "") + count_text(std::abs(x));
  const int decimals = static_cast<int>(std::ceil(-std::log10(step) - 1e-9));
  const std::string text = fmt::format("{:.{}f}", std::abs(x), decimals);
  const bool zero = text.find_first_of("123456789") == std::string::npos;
  return (x < 0 && !zero ? "-" : "") + text;
}

Ticks nice_ticks(double lo, double hi, int most, bool whole) {
  Ticks ticks;
  if (!std::isfinite(lo) || !std::isfinite(hi) || !(hi > lo)) return ticks;
  const double exponent = std::floor(std::log10((hi - lo) / most));
  for (const double factor : {1.0, 2.0, 5.0, 10.0, 20.0}) {
    ticks.step = factor * std::pow(10.0, exponent);
    if (whole) ticks.step = std::max(1.0, std::round(ticks.step));
    const double first = std::ceil(lo / ticks.step - 1e-9);
    const double last = std::floor(hi / ticks.step + 1e-9);
    if (last - first + 1 > most) continue;
    for (double i = first; i <= last; ++i) ticks.at.push_back(i * ticks.step);
    return ticks;
  }
  return ticks;
}

Range range_of(const std::vector<double>& values, double margin) {
  double lo = HUGE_VAL;
  double hi = -HUGE_VAL;
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    lo = std::min(lo, v);
    hi = std::max(hi, v);
  }
  if (lo > hi) return {};
  if (lo == hi) {
    const double room = lo == 0 ? 1 : std::abs(lo) * 0.1;
    return {lo - room, hi + room};
  }
  const double room = margin * (hi - lo);
  return {lo - room, hi + room};
}

void draw_x_axis(Canvas& canvas, const PlotArea& area, const Ticks& ticks,
                 const std::string& label) {
  for (const double v : ticks.at) {
    canvas.line(area.x_at(v), area.top, area.x_at(v), area.bottom, {.colour = kGridColour});
    canvas.text(area.x_at(v), area.bottom + 17, ticks.label(v),
                {.size = kTickSize, .colour = kSoftInk, .anchor = Anchor::kMiddle});
  }
  canvas.line(area.left, area.bottom, area.right, area.bottom, {.colour = kAxisColour});
  canvas.text((area.left + area.right) / 2, area.bottom + 37, label,
              {.size = kLabelSize, .colour = kSoftInk, .anchor = Anchor::kMiddle});
}

void draw_y_axis(Canvas& canvas, const PlotArea& area, const Ticks& ticks,
                 const std::string& label) {
  double widest = 0;
  for (const double v : ticks.at) {
    canvas.line(area.left, area.y_at(v), area.right, area.y_at(v), {.colour = kGridColour});
    canvas.text(area.left - 8, area.y_at(v) + 4, ticks.label(v),
                {.size = kTickSize, .colour = kSoftInk, .anchor = Anchor::kEnd});
    widest = std::max(widest, text_width(ticks.label(v), kTickSize));
  }
  if (label.empty()) return;
  canvas.text(area.left - 18 - widest, (area.top + area.bottom) / 2, label,
              {.size = kLabelSize, .colour = kSoftInk, .anchor = Anchor::kMiddle, .upward = true});
}

void draw_title(Canvas& canvas, double left, const std::string& title,
                const std::string& subtitle) {
  canvas.text(left, 28, title, {.size = 16, .colour = kInk, .bold = true});
  if (!subtitle.empty()) canvas.text(left, 47, subtitle, {.size = 12, .colour = kSoftInk});
}

int y_ticks(const Frame& frame) { return frame.bare ? 5 : 7; }

PlotArea plot_area(const Frame& frame, const Range& y) {
  PlotArea area{.left = 76, .top = 76, .right = frame.width - 28, .bottom = frame.height - 56};
  if (frame.bare) {
    double widest = 0;
    const Ticks ticks = nice_ticks(y.lo, y.hi, y_ticks(frame));
    for (const double v : ticks.at)
      widest = std::max(widest, text_width(ticks.label(v), kTickSize));
    area = {.left = widest + 14, .top = 10, .right = frame.width - 12, .bottom = frame.height - 44};
  }
  area.y = y;
  return area;
}

void draw_legend(Canvas& canvas, double right, double y, const std::vector<LegendEntry>& entries) {
  constexpr double kSwatch = 14;
  constexpr double kGap = 18;
  double x = right + kGap;
  for (const LegendEntry& entry : entries)
    x -= kSwatch + 6 + text_width(entry.name, kLabelSize) + kGap;
  for (const LegendEntry& entry : entries) {
    canvas.rectangle(x, y - 7, kSwatch, 4, entry.colour);
    canvas.text(x + kSwatch + 6, y, entry.name, {.size = kLabelSize, .colour = kInk});
    x += kSwatch + 6 + text_width(entry.name, kLabelSize) + kGap;
  }
}

void draw_no_data(Canvas& canvas, const PlotArea& area) {
  canvas.text((area.left + area.right) / 2, (area.top + area.bottom) / 2, "no data",
              {.size = 14, .colour = kSoftInk, .anchor = Anchor::kMiddle});
}

}  // namespace foxhunt::evaluation::svg
