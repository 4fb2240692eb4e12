#include "foxhunt/report/figure.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/svg/canvas.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;

double tenths(double x) { return std::round(x * 10) / 10; }

std::string hover_json(const svg::Drawing& drawing, const Hover& hover) {
  nlohmann::ordered_json json{{"w", drawing.width},
                              {"h", drawing.height},
                              {"t", tenths(drawing.area.top)},
                              {"b", tenths(drawing.area.bottom)},
                              {"k", hover.headings}};
  json["x"] = nlohmann::ordered_json::array();
  for (const double x : hover.x) json["x"].push_back(tenths(drawing.area.x_at(x)));
  json["s"] = nlohmann::ordered_json::array();
  for (const Hover::Series& series : hover.series) {
    nlohmann::ordered_json y = nlohmann::ordered_json::array();
    for (const double v : series.y)
      y.push_back(drawable(v).defined() ? nlohmann::ordered_json(tenths(drawing.area.y_at(v)))
                                        : nullptr);
    json["s"].push_back(
        {{"n", series.name}, {"c", series.colour}, {"y", std::move(y)}, {"v", series.text}});
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

double largest_of(const std::vector<double>& values) {
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  return largest;
}

std::vector<svg::LineSeries> drawable_series(std::vector<svg::LineSeries> series) {
  for (svg::LineSeries& one : series) {
    for (double& v : one.x) v = drawable(v).or_else(std::nan(""));
    for (double& v : one.y) v = drawable(v).or_else(std::nan(""));
  }
  return series;
}

Hover hover_of(const Curves& curves) {
  Hover hover;
  if (curves.series.empty()) return hover;
  hover.x = curves.series.front().x;
  for (const double x : hover.x)
    hover.headings.push_back(fmt::format("{} {}", curves.x_name, evaluation::count_text(x)));
  for (std::size_t s = 0; s < curves.series.size(); ++s) {
    const svg::LineSeries& series = curves.series[s];
    Hover::Series said{.name = series.name, .colour = s, .y = series.y, .text = {}};
    const double scale = largest_of(series.y);
    for (const double v : series.y) {
      said.text.push_back(!std::isfinite(v)        ? "n/a (not finite or not measured)"
                          : curves.text != nullptr ? curves.text(v)
                                                   : evaluation::number_text(v, scale));
    }
    hover.series.push_back(std::move(said));
  }
  return hover;
}

std::string curves_figure(const Curves& curves, svg::Frame frame, const std::string& css) {
  svg::LineChart chart{.title = curves.alt,
                       .subtitle = "",
                       .x_label = curves.x_name,
                       .y_label = "",
                       .series = drawable_series(curves.series),
                       .mark = curves.mark,
                       .whole_x = true,
                       .from_zero = curves.from_zero,
                       .frame = frame};
  std::vector<std::string> names;
  for (const svg::LineSeries& series : curves.series) names.push_back(series.name);
  return figure_html({.title = curves.title,
                      .caption = curves.caption,
                      .legend = names.size() > 1 ? legend(names) : "",
                      .drawing = svg::draw(chart),
                      .hover = hover_of(curves),
                      .css = css});
}

bool has_value(const Curves& curves) {
  return std::any_of(curves.series.begin(), curves.series.end(), [](const svg::LineSeries& s) {
    return std::any_of(s.y.begin(), s.y.end(), [](double v) { return drawable(v).defined(); });
  });
}

std::string without_value(const Curves& curves) {
  return fmt::format(
      "<figure class=\"fig empty\"><figcaption><strong>{}</strong></figcaption><p class=\"na\">n/a "
      "<small>(no value in metrics.jsonl)</small></p></figure>\n",
      curves.title);
}

std::string bars_figure(const Bars& bars, svg::Frame frame, const std::string& css) {
  svg::BarChart chart = bars.chart;
  chart.frame = frame;
  Hover hover;
  Hover::Series lines{.name = "", .colour = 0, .y = {}, .text = {}};
  for (std::size_t i = 0; i < chart.categories.size(); ++i) {
    hover.x.push_back(static_cast<double>(i) + 0.5);
    hover.headings.push_back(bars.said[i].front());
    std::string rest;
    for (std::size_t l = 1; l < bars.said[i].size(); ++l)
      rest += (l > 1 ? "\n" : "") + bars.said[i][l];
    lines.y.push_back(std::nan(""));
    lines.text.push_back(std::move(rest));
  }
  hover.series.push_back(std::move(lines));
  return figure_html({.title = bars.title,
                      .caption = bars.caption,
                      .legend = "",
                      .drawing = svg::draw(chart),
                      .hover = std::move(hover),
                      .css = css});
}

}  // namespace

evaluation::Value drawable(double value) {
  constexpr double kLargest = 1e100;
  return std::abs(value) > kLargest ? evaluation::Value::undefined("too large to draw")
                                    : evaluation::Value::of(value);
}

evaluation::Value drawable(const Reading& reading) {
  return reading ? drawable(*reading) : evaluation::Value::undefined("not recorded");
}

std::string legend(const std::vector<std::string>& names) {
  std::string html = "<span class=\"legend\">";
  for (std::size_t i = 0; i < names.size(); ++i) {
    html += fmt::format("<span><i class=\"s{}\"></i>{}</span>", i % svg::kSeriesColours,
                        svg::escape(names[i]));
  }
  return html + "</span>";
}

std::string figure_html(const Figure& figure) {
  const std::string hover =
      figure.hover.x.empty() ? ""
                             : fmt::format(" tabindex=\"0\" data-hover=\"{}\"",
                                           svg::escape(hover_json(figure.drawing, figure.hover)));
  return fmt::format(
      "<figure class=\"fig {}\"><figcaption><strong>{}</strong>{}{}</figcaption><div "
      "class=\"plot\"{}>{}</div></figure>\n",
      figure.css, figure.title,
      figure.caption.empty() ? "" : fmt::format("<span class=\"sub\">{}</span>", figure.caption),
      figure.legend, hover, figure.drawing.svg);
}

std::string curves_html(const Curves& curves) {
  if (!has_value(curves)) return without_value(curves);
  return curves_figure(curves, {.width = 380, .height = curves.height, .bare = true}, "");
}

std::string wide_curves_html(const Curves& curves) {
  if (!has_value(curves)) return without_value(curves);
  return curves_figure(curves, {.width = 780, .height = 280, .bare = true}, "wide roomy") +
         curves_figure(curves, {.width = 380, .height = 270, .bare = true}, "wide tight");
}

svg::LineSeries thinned(const svg::LineSeries& series, std::size_t most, bool largest) {
  if (series.x.size() <= most) return series;
  svg::LineSeries thin{series.name, {}, {}};
  for (std::size_t i = 0; i < most; ++i) {
    const std::size_t begin = i * series.x.size() / most;
    const std::size_t end = (i + 1) * series.x.size() / most;
    double sum = 0;
    double top = -HUGE_VAL;
    std::size_t finite = 0;
    for (std::size_t j = begin; j < end; ++j) {
      if (!std::isfinite(series.y[j])) continue;
      sum += series.y[j];
      top = std::max(top, series.y[j]);
      ++finite;
    }
    thin.x.push_back(series.x[end - 1]);
    const double value = largest ? top : sum / static_cast<double>(finite);
    thin.y.push_back(finite > 0 ? value : std::nan(""));
  }
  return thin;
}

std::string bars_html(const Bars& bars) {
  if (!bars.wide) return bars_figure(bars, {.width = 380, .height = 250, .bare = true}, "");
  return bars_figure(bars, {.width = 780, .height = 250, .bare = true}, "wide roomy") +
         bars_figure(bars, {.width = 380, .height = 250, .bare = true}, "wide tight");
}

}  // namespace foxhunt::report
