#include <algorithm>

#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::evaluation::svg {
namespace {

constexpr double kRowHeight = 27;
constexpr double kNameSize = 12.5;

void draw_row(Canvas& canvas, const PlotArea& area, const IntervalRow& row, double y, bool first) {
  const std::string colour = first ? series_colour(0) : kSoftInk;
  canvas.text(area.left - 12, y + 4, row.name,
              {.size = kNameSize, .colour = kInk, .anchor = Anchor::kEnd, .bold = first});
  if (!row.value) {
    canvas.text(area.left + 6, y + 4, "n/a", {.size = 11.5, .colour = kSoftInk});
    return;
  }
  if (row.interval.defined()) {
    const double lo = area.x_at(*row.interval.lo);
    const double hi = area.x_at(*row.interval.hi);
    canvas.line(lo, y, hi, y, {.colour = colour, .width = first ? 3.0 : 2.0});
    for (const double x : {lo, hi})
      canvas.line(x, y - 4, x, y + 4, {.colour = colour, .width = 1.5});
  }
  canvas.circle(area.x_at(*row.value), y, first ? 5 : 4, colour, {.colour = kPaper, .width = 1.5});
}

}  // namespace

Drawing draw(const IntervalChart& chart) {
  std::vector<double> seen;
  double widest = 0;
  for (const IntervalRow& row : chart.rows) {
    widest = std::max(widest, text_width(row.name, kNameSize));
    if (row.value) seen.push_back(*row.value);
    if (!row.value || !row.interval.defined()) continue;
    seen.insert(seen.end(), {*row.interval.lo, *row.interval.hi});
  }
  const double height = 12 + kRowHeight * static_cast<double>(chart.rows.size()) + 44;
  const PlotArea area{.left = widest + 18,
                      .top = 6,
                      .right = chart.width - 14,
                      .bottom = height - 44,
                      .x = range_of(seen, 0.06),
                      .y = {}};
  Canvas canvas(chart.width, height, chart.title, "");
  draw_x_axis(canvas, area, seen.empty() ? Ticks{} : nice_ticks(area.x.lo, area.x.hi, 5),
              chart.x_label);
  if (!chart.rows.empty() && chart.rows.front().value) {
    const double x = area.x_at(*chart.rows.front().value);
    canvas.line(x, area.top, x, area.bottom,
                {.colour = series_colour(0), .width = 1, .dashes = "3 3"});
  }
  for (std::size_t i = 0; i < chart.rows.size(); ++i) {
    draw_row(canvas, area, chart.rows[i],
             area.top + 6 + kRowHeight * (static_cast<double>(i) + 0.5), i == 0);
  }
  return {canvas.finish(), chart.width, height, area};
}

}  // namespace foxhunt::evaluation::svg
