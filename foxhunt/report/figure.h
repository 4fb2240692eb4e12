#pragma once
// A chart on a page: its caption in HTML, its SVG, and the values that a pointer shows.

#include <optional>
#include <string>
#include <vector>

#include "foxhunt/evaluation/svg/charts.h"
#include "foxhunt/report/html.h"

namespace foxhunt::report {

/// A number as charts want it: undefined, too, where it is so large that an axis over it overflows.
evaluation::Value drawable(double value);
evaluation::Value drawable(const Reading& reading);

/// What is said where the pointer stands: places along x, each with a heading and a value a series.
struct Hover {
  struct Series {
    std::string name{};
    std::size_t colour = 0;           ///< as svg::series_colour()
    std::vector<double> y{};          ///< in data units; NaN: no dot
    std::vector<std::string> text{};  ///< empty: nothing is said
  };
  std::vector<double> x{};  ///< in data units, ascending
  std::vector<std::string> headings{};
  std::vector<Series> series{};
};

struct Figure {
  std::string title{};    ///< HTML
  std::string caption{};  ///< HTML, below the title
  std::string legend{};   ///< HTML of legend()
  evaluation::svg::Drawing drawing{};
  Hover hover{};
  std::string css{};  ///< further classes: "wide"
};
std::string figure_html(const Figure& figure);

std::string legend(const std::vector<std::string>& names);

/// Lines over epochs or steps, with what the pointer says made from the series.
struct Curves {
  std::string title{};    ///< HTML
  std::string caption{};  ///< HTML
  std::string alt{};      ///< what a screen reader says
  std::string x_name{};   ///< "epoch"
  std::vector<evaluation::svg::LineSeries> series{};
  std::optional<evaluation::svg::Mark> mark{};
  std::string (*text)(double) = nullptr;  ///< how a value is said; null: number_text()
  bool from_zero = false;                 ///< the y axis begins at 0
  double height = 236;
};
/// In the size of one column. Nothing but a sentence where no value is finite.
std::string curves_html(const Curves& curves);
/// The same once for wide and once for narrow screens.
std::string wide_curves_html(const Curves& curves);

/// Many points as at most `most`: mean (or largest) of equal stretches.
evaluation::svg::LineSeries thinned(const evaluation::svg::LineSeries& series, std::size_t most,
                                    bool largest);

/// Values over categories: bars, counts below.
struct Bars {
  std::string title{};
  std::string caption{};
  evaluation::svg::BarChart chart{};
  std::vector<std::vector<std::string>> said{};  ///< [category] lines for the pointer
  bool wide = false;                             ///< two columns on a wide screen
};
std::string bars_html(const Bars& bars);

}  // namespace foxhunt::report
