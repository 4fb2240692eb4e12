#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/charts.h"

namespace foxhunt::evaluation::svg {
namespace {

constexpr std::size_t kMostDots = 40;  ///< points of a line that still get a dot each

void draw_series(Canvas& canvas, const PlotArea& area, const LineSeries& series,
                 const char* colour) {
  std::vector<std::pair<double, double>> run;
  const auto flush = [&] {
    if (run.size() > 1) canvas.path(run, {.colour = colour, .width = 2.25});
    // A point between two gaps has no line: it gets a dot even where there are many.
    if (run.size() == 1 || series.x.size() <= kMostDots) {
      for (const auto& [x, y] : run) canvas.circle(x, y, 2.75, colour, {.colour = kPaper});
    }
    run.clear();
  };
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (std::isfinite(series.x[i]) && std::isfinite(series.y[i])) {
      run.emplace_back(area.x_at(series.x[i]), area.y_at(series.y[i]));
    } else {
      flush();
    }
  }
  flush();
}

void draw_mark(Canvas& canvas, const PlotArea& area, const Mark& mark) {
  const double x = area.x_at(mark.x);
  canvas.line(x, area.top, x, area.bottom, {.colour = kSoftInk, .width = 1.25, .dashes = "4 4"});
  canvas.circle(x, area.y_at(mark.y), 6, "none", {.colour = kInk, .width = 1.75});
  const bool on_left = x + 10 + text_width(mark.label, 12) > area.right;
  canvas.text(x + (on_left ? -8 : 8), area.top + 14, mark.label,
              {.size = 12,
               .colour = kInk,
               .anchor = on_left ? Anchor::kEnd : Anchor::kStart,
               .bold = true});
}

}  // namespace

Drawing draw(const LineChart& chart) {
  std::vector<double> xs;
  std::vector<double> ys;
  std::vector<LegendEntry> legend;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    if (series.x.size() != series.y.size()) {
      throw ShapeError(fmt::format("[svg] series '{}' has {} x and {} y", series.name,
                                   series.x.size(), series.y.size()));
    }
    legend.push_back({series.name, series_colour(s)});
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (!std::isfinite(series.x[i]) || !std::isfinite(series.y[i])) continue;
      xs.push_back(series.x[i]);
      ys.push_back(series.y[i]);
    }
  }
  Range y = range_of(ys, 0.08);
  if (chart.from_zero && (ys.empty() || *std::min_element(ys.begin(), ys.end()) >= 0)) y.lo = 0;
  PlotArea area = plot_area(chart.frame, y);
  area.x = range_of(xs, 0.02);

  Canvas canvas(chart.frame.width, chart.frame.height, chart.title, chart.subtitle);
  if (!chart.frame.bare) {
    draw_title(canvas, 20, chart.title, chart.subtitle);
    draw_legend(canvas, area.right, 28, legend);
  }
  const int most = chart.frame.width < 500 ? 7 : 12;
  draw_x_axis(canvas, area,
              xs.empty() ? Ticks{} : nice_ticks(area.x.lo, area.x.hi, most, chart.whole_x),
              chart.x_label);
  draw_y_axis(canvas, area, xs.empty() ? Ticks{} : nice_ticks(y.lo, y.hi, y_ticks(chart.frame)),
              chart.frame.bare ? "" : chart.y_label);
  if (xs.empty()) draw_no_data(canvas, area);
  for (std::size_t s = 0; s < chart.series.size(); ++s)
    draw_series(canvas, area, chart.series[s], series_colour(s));
  if (chart.mark && !xs.empty()) draw_mark(canvas, area, *chart.mark);
  return {canvas.finish(), chart.frame.width, chart.frame.height, area};
}

std::string to_svg(const LineChart& chart) { return draw(chart).svg; }

std::string loss_curve_svg(const std::vector<double>& train, const std::vector<double>& valid,
                           const std::string& loss_name) {
  const auto series = [](const char* name, const std::vector<double>& y) {
    LineSeries s{name, {}, y};
    for (std::size_t i = 0; i < y.size(); ++i) s.x.push_back(static_cast<double>(i + 1));
    return s;
  };
  LineChart chart{.title = "Loss by epoch",
                  .subtitle = "",
                  .x_label = "epoch",
                  .y_label = loss_name,
                  .series = {series("training", train), series("validation", valid)},
                  .mark = std::nullopt,
                  .whole_x = true};
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (std::isfinite(valid[i]) && (!best || valid[i] < valid[*best])) best = i;
  }
  if (best) {
    const auto epoch = static_cast<double>(*best + 1);
    chart.mark = Mark{epoch, valid[*best], fmt::format("best: epoch {:.0f}", epoch)};
    chart.subtitle =
        fmt::format("Lowest validation loss {} in epoch {:.0f} of {}", number_text(valid[*best]),
                    epoch, std::max(train.size(), valid.size()));
  }
  return to_svg(chart);
}

}  // namespace foxhunt::evaluation::svg
