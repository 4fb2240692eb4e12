#pragma once
// From numbers to pixels, with ticks that people can read.

#include <string>
#include <vector>

#include "foxhunt/evaluation/svg/canvas.h"

namespace foxhunt::evaluation::svg {

/// Ticks at 1, 2 or 5 times a power of ten.
struct Ticks {
  double step = 1;
  std::vector<double> at;  ///< ascending

  /// With the decimals that the step needs: "0.25", "1,000".
  std::string label(double x) const;
};

/// At most `most` >= 2 ticks within [lo, hi]; `whole` keeps them to whole numbers. An empty or not
/// finite range gives none.
Ticks nice_ticks(double lo, double hi, int most, bool whole = false);

struct Range {
  double lo = 0;
  double hi = 1;
};

/// The least and the largest of the finite values, with `margin` of their distance added at both
/// ends; where they do not differ, a little room around them; [0, 1] when there are none.
Range range_of(const std::vector<double>& values, double margin);

/// The part of a canvas where data is drawn, and how numbers map onto it.
struct PlotArea {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  Range x{};
  Range y{};

  double x_at(double v) const { return left + (v - x.lo) / (x.hi - x.lo) * (right - left); }
  double y_at(double v) const { return bottom - (v - y.lo) / (y.hi - y.lo) * (bottom - top); }
  double width() const { return right - left; }
  double height() const { return bottom - top; }
};

/// Grid, tick labels and axis lines. Draw them first: data lies on top.
void draw_x_axis(Canvas& canvas, const PlotArea& area, const Ticks& ticks,
                 const std::string& label);
void draw_y_axis(Canvas& canvas, const PlotArea& area, const Ticks& ticks,
                 const std::string& label);

/// Bold title and a line of explanation, flush left at `left`.
void draw_title(Canvas& canvas, double left, const std::string& title, const std::string& subtitle);

/// The size of a chart. `bare`: without title, subtitle, legend and y label, for a page that says
/// them in its own type.
struct Frame {
  double width = 760;
  double height = 420;
  bool bare = false;
};

/// Where data goes in a frame: a bare one leaves no more room than the labels of `y` need.
PlotArea plot_area(const Frame& frame, const Range& y);
/// How many ticks the height of a frame has room for.
int y_ticks(const Frame& frame);

struct LegendEntry {
  std::string name;
  std::string colour;
};
/// One line of swatches and names, flush right at `right`.
void draw_legend(Canvas& canvas, double right, double y, const std::vector<LegendEntry>& entries);

/// "no data", in the middle of the area.
void draw_no_data(Canvas& canvas, const PlotArea& area);

}  // namespace foxhunt::evaluation::svg
