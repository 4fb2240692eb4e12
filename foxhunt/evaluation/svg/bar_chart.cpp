#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::evaluation::svg {
namespace {

void check_lengths(const BarChart& chart) {
  const std::size_t n = chart.categories.size();
  if (chart.values.size() != n || (!chart.below.empty() && chart.below.size() != n)) {
    throw ShapeError(fmt::format("[svg] {} values and {} lines of small print for {} categories",
                                 chart.values.size(), chart.below.size(), n));
  }
}

/// Every how many-th category has room for its label.
std::size_t label_stride(const BarChart& chart, double slot) {
  double widest = 0;
  for (const std::string& c : chart.categories) widest = std::max(widest, text_width(c, 11.5));
  for (const std::string& b : chart.below) widest = std::max(widest, text_width(b, 10));
  return static_cast<std::size_t>(std::ceil(std::max(1.0, (widest + 6) / slot)));
}

void draw_categories(Canvas& canvas, const PlotArea& area, const BarChart& chart, double slot) {
  const std::size_t stride = label_stride(chart, slot);
  for (std::size_t i = 0; i < chart.categories.size(); i += stride) {
    const double middle = area.left + (static_cast<double>(i) + 0.5) * slot;
    canvas.text(middle, area.bottom + 17, chart.categories[i],
                {.size = 11.5, .colour = kInk, .anchor = Anchor::kMiddle});
    if (chart.below.empty()) continue;
    canvas.text(middle, area.bottom + 31, chart.below[i],
                {.size = 10, .colour = kSoftInk, .anchor = Anchor::kMiddle});
  }
}

}  // namespace

Drawing draw(const BarChart& chart) {
  check_lengths(chart);
  std::vector<double> seen{0.0};
  for (const Value& v : chart.values) {
    if (v) seen.push_back(*v);
  }
  const bool empty = seen.size() == 1;
  Range y = empty ? Range{} : range_of(seen, 0.0);
  // Room above the bars, and below them where there are some.
  const double room = 0.06 * (y.hi - y.lo);
  if (y.hi > 0) y.hi += room;
  if (y.lo < 0) y.lo -= room;
  PlotArea area = plot_area(chart.frame, y);
  if (!chart.frame.bare) area.left = 82;
  if (!chart.below.empty()) area.bottom -= 14;

  Canvas canvas(chart.frame.width, chart.frame.height, chart.title, chart.subtitle);
  if (!chart.frame.bare) draw_title(canvas, 20, chart.title, chart.subtitle);
  if (!chart.frame.bare && !chart.positive_name.empty()) {
    draw_legend(canvas, area.right, 28,
                {{chart.positive_name, series_colour(0)}, {chart.negative_name, kNegativeColour}});
  }
  draw_y_axis(canvas, area, empty ? Ticks{} : nice_ticks(y.lo, y.hi, y_ticks(chart.frame)),
              chart.frame.bare ? "" : chart.y_label);
  const double slot =
      area.width() / static_cast<double>(std::max<std::size_t>(chart.categories.size(), 1));
  const double bar = std::min(0.7 * slot, 46.0);
  for (std::size_t i = 0; i < chart.values.size(); ++i) {
    if (!chart.values[i]) continue;
    const double v = *chart.values[i];
    const double from = area.y_at(std::max(v, 0.0));
    const double to = area.y_at(std::min(v, 0.0));
    canvas.rectangle(area.left + (static_cast<double>(i) + 0.5) * slot - bar / 2, from, bar,
                     to - from, v < 0 ? kNegativeColour : series_colour(0));
  }
  canvas.line(area.left, area.y_at(0), area.right, area.y_at(0),
              {.colour = kSoftInk, .width = 1.25});
  draw_categories(canvas, area, chart, slot);
  canvas.text((area.left + area.right) / 2, chart.frame.height - (chart.frame.bare ? 6 : 16),
              chart.x_label, {.size = 12, .colour = kSoftInk, .anchor = Anchor::kMiddle});
  if (empty) draw_no_data(canvas, area);
  area.x = {0, static_cast<double>(std::max<std::size_t>(chart.categories.size(), 1))};
  return {canvas.finish(), chart.frame.width, chart.frame.height, area};
}

std::string to_svg(const BarChart& chart) { return draw(chart).svg; }

}  // namespace foxhunt::evaluation::svg
