#pragma once
// The pictures of a run and of its evaluation, each one self-contained SVG document.
//
// Values that are undefined or not finite are left out (a gap in a line, no bar); a chart without
// any says "no data".

#include <optional>
#include <string>
#include <vector>

#include "foxhunt/evaluation/metrics/calibration.h"
#include "foxhunt/evaluation/metrics/value.h"
#include "foxhunt/evaluation/svg/axis.h"

namespace foxhunt::evaluation::svg {

/// A document, and where its data lies, for whoever points at it.
struct Drawing {
  std::string svg{};
  double width = 0;
  double height = 0;
  PlotArea area{};
};

struct LineSeries {
  std::string name{};
  std::vector<double> x{};
  std::vector<double> y{};  ///< of the length of x; NaN: a gap
};

/// A vertical line with a word on it, and a ring on the series where it stands.
struct Mark {
  double x = 0;
  double y = 0;
  std::string label{};
};

struct LineChart {
  std::string title{};
  std::string subtitle{};
  std::string x_label{};
  std::string y_label{};
  std::vector<LineSeries> series{};
  std::optional<Mark> mark{};
  bool whole_x = false;    ///< ticks at whole numbers only (epochs)
  bool from_zero = false;  ///< the y axis begins at 0 (counts, shares), unless data lies below
  Frame frame{};
};
/// Errors  ShapeError naming the series whose x and y differ in length.
std::string to_svg(const LineChart& chart);
Drawing draw(const LineChart& chart);

/// Training and validation loss by epoch, epoch 1 first, with the epoch of the lowest validation
/// loss marked.
std::string loss_curve_svg(const std::vector<double>& train, const std::vector<double>& valid,
                           const std::string& loss_name);

struct CalibrationChart {
  std::string title = "Calibration";
  std::string subtitle{};
  std::vector<std::string> class_names{};   ///< [K]
  std::vector<ClassCalibration> classes{};  ///< [K]
};
/// A panel a class: what was said against what happened, the diagonal, intervals, and below how
/// many rows said it. Errors  ShapeError when the lengths differ.
std::string to_svg(const CalibrationChart& chart);
/// The panel of class `k` alone, on the same range as all. Errors  as above.
Drawing draw_class(const CalibrationChart& chart, std::size_t k);

struct BarChart {
  std::string title{};
  std::string subtitle{};
  std::string x_label{};
  std::string y_label{};
  std::vector<std::string> categories{};
  std::vector<std::string> below{};  ///< small print under each category; empty: none
  std::vector<Value> values{};       ///< one a category; bars start at 0
  std::string
      positive_name{};  ///< legend of the bars above 0, and of those below; empty: no legend
  std::string negative_name{};
  Frame frame{.width = 760, .height = 400, .bare = false};
};
/// Errors  ShapeError when the lengths differ.
std::string to_svg(const BarChart& chart);
Drawing draw(const BarChart& chart);

/// A line a row: a number and the range it lies in.
struct IntervalRow {
  std::string name{};
  Value value{};
  Interval interval{};
};
struct IntervalChart {
  std::string title{};
  std::string x_label{};
  std::vector<IntervalRow> rows{};  ///< the first one stands out, its value a line through all
  double width = 380;
};
/// Bare; as high as its rows need. Rows without a value say "n/a".
Drawing draw(const IntervalChart& chart);

}  // namespace foxhunt::evaluation::svg
