#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::evaluation::svg {
namespace {

constexpr std::size_t kPanelsInARow = 3;
constexpr double kPanel = 212;  ///< side of the square
constexpr double kStrip = 40;   ///< height of the counts below it
constexpr double kPanelGap = 40;
constexpr double kLeft = 76;
constexpr double kTop = 94;
constexpr double kRowHeight = kPanel + kStrip + 96;

/// One range for all panels and both axes, so that they compare and the diagonal is one.
Range shared_range(const std::vector<ClassCalibration>& classes) {
  std::vector<double> seen;
  for (const ClassCalibration& c : classes) {
    for (const CalibrationBin& bin : c.bins) {
      for (const Value& v : {bin.predicted, bin.observed, bin.interval.lo, bin.interval.hi}) {
        if (v) seen.push_back(*v);
      }
    }
  }
  const Range r = range_of(seen, 0.06);
  return {std::max(0.0, r.lo), std::min(1.0, r.hi)};
}

double most_rows(const std::vector<ClassCalibration>& classes) {
  double most = 0;
  for (const ClassCalibration& c : classes) {
    for (const CalibrationBin& bin : c.bins) most = std::max(most, bin.rows);
  }
  return most;
}

void draw_bins(Canvas& canvas, const PlotArea& area, const ClassCalibration& c,
               const char* colour) {
  for (const CalibrationBin& bin : c.bins) {
    if (!bin.predicted || !bin.interval.defined()) continue;
    const double x = area.x_at(*bin.predicted);
    const double lo = area.y_at(*bin.interval.lo);
    const double hi = area.y_at(*bin.interval.hi);
    canvas.line(x, lo, x, hi, {.colour = colour, .width = 1.25});
    canvas.line(x - 3, lo, x + 3, lo, {.colour = colour, .width = 1.25});
    canvas.line(x - 3, hi, x + 3, hi, {.colour = colour, .width = 1.25});
  }
  for (const CalibrationBin& bin : c.bins) {
    if (!bin.predicted || !bin.observed) continue;
    canvas.circle(area.x_at(*bin.predicted), area.y_at(*bin.observed), 4, colour,
                  {.colour = kPaper});
  }
}

/// How many rows said it: a bar a bin, darker where bins crowd.
void draw_counts(Canvas& canvas, const PlotArea& area, const ClassCalibration& c, double most,
                 const char* colour) {
  const double bottom = area.bottom + kStrip + 8;
  double fewest = HUGE_VAL;
  double largest = 0;
  for (const CalibrationBin& bin : c.bins) {
    if (!bin.predicted) continue;
    const double height = kStrip * 0.72 * bin.rows / most;
    canvas.rectangle(area.x_at(*bin.predicted) - 2, bottom - height, 4, height, colour, 0.5);
    fewest = std::min(fewest, bin.rows);
    largest = std::max(largest, bin.rows);
  }
  canvas.line(area.left, bottom, area.right, bottom, {.colour = kAxisColour});
  if (largest <= 0) return;
  const std::string rows = fewest == largest
                               ? count_text(largest)
                               : fmt::format("{} to {}", count_text(fewest), count_text(largest));
  canvas.text(area.right, bottom - kStrip * 0.72 - 3, rows + " rows a bin",
              {.size = 10.5, .colour = kSoftInk, .anchor = Anchor::kEnd});
}

void draw_panel(Canvas& canvas, PlotArea area, const std::string& name, const ClassCalibration& c,
                double most, const char* colour, bool first_in_row) {
  canvas.text(area.left, area.top - 10, name, {.size = 13, .colour = colour, .bold = true});
  if (c.ece) {
    canvas.text(area.right, area.top - 10, "mean error " + number_text(*c.ece, 1),
                {.size = 11.5, .colour = kSoftInk, .anchor = Anchor::kEnd});
  }
  const Ticks ticks = nice_ticks(area.x.lo, area.x.hi, 6);
  draw_y_axis(canvas, area, ticks, first_in_row ? "share that happened" : "");
  draw_x_axis(canvas, area, ticks, "");
  if (c.bins.empty()) {
    draw_no_data(canvas, area);
    return;
  }
  canvas.line(area.left, area.bottom, area.right, area.top,
              {.colour = kAxisColour, .width = 1.5, .dashes = "5 4"});
  draw_bins(canvas, area, c, colour);
  // The strip of counts begins below the tick labels.
  PlotArea strip = area;
  strip.bottom += 22;
  draw_counts(canvas, strip, c, most, colour);
  canvas.text((area.left + area.right) / 2, strip.bottom + kStrip + 27, "probability said",
              {.size = 12, .colour = kSoftInk, .anchor = Anchor::kMiddle});
}

void check_lengths(const CalibrationChart& chart) {
  if (chart.class_names.size() != chart.classes.size()) {
    throw ShapeError(fmt::format("[svg] {} class names for {} calibrations",
                                 chart.class_names.size(), chart.classes.size()));
  }
}

}  // namespace

Drawing draw_class(const CalibrationChart& chart, std::size_t k) {
  check_lengths(chart);
  constexpr double kSide = 292;
  PlotArea area{.left = kLeft,
                .top = 30,
                .right = kLeft + kSide,
                .bottom = 30 + kPanel,
                .x = shared_range(chart.classes),
                .y = shared_range(chart.classes)};
  const double width = kLeft + kSide + 12;
  const double height = area.bottom + kStrip + 58;
  Canvas canvas(width, height, chart.class_names.at(k), chart.subtitle);
  draw_panel(canvas, area, chart.class_names.at(k), chart.classes[k], most_rows(chart.classes),
             series_colour(k), /*first_in_row=*/true);
  return {canvas.finish(), width, height, area};
}

std::string to_svg(const CalibrationChart& chart) {
  check_lengths(chart);
  const std::size_t n = std::max<std::size_t>(chart.classes.size(), 1);
  const std::size_t columns = std::min(n, kPanelsInARow);
  const std::size_t lines = (n + kPanelsInARow - 1) / kPanelsInARow;
  const double width =
      std::max(420.0, kLeft + static_cast<double>(columns) * (kPanel + kPanelGap) - kPanelGap + 28);
  const double height = kTop - 14 + static_cast<double>(lines) * kRowHeight;
  Canvas canvas(width, height, chart.title, chart.subtitle);
  draw_title(canvas, 20, chart.title, chart.subtitle);
  const Range range = shared_range(chart.classes);
  const double most = most_rows(chart.classes);
  for (std::size_t k = 0; k < n; ++k) {
    PlotArea area;
    area.left = kLeft + static_cast<double>(k % kPanelsInARow) * (kPanel + kPanelGap);
    const std::size_t row = k / kPanelsInARow;
    area.top = kTop + static_cast<double>(row) * kRowHeight;
    area.right = area.left + kPanel;
    area.bottom = area.top + kPanel;
    area.x = range;
    area.y = range;
    if (chart.classes.empty()) {
      area.right = width - kLeft;
      draw_no_data(canvas, area);
    } else {
      draw_panel(canvas, area, chart.class_names[k], chart.classes[k], most, series_colour(k),
                 k % kPanelsInARow == 0);
    }
  }
  return canvas.finish();
}

}  // namespace foxhunt::evaluation::svg
