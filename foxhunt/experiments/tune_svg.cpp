// A picture of a search: the loss trial by trial, and against each thing that was tried.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/canvas.h"
#include "foxhunt/experiments/tune.h"

namespace foxhunt::experiments {
namespace {

namespace svg = foxhunt::evaluation::svg;

constexpr double kWidth = 760;
constexpr double kTop = 80;
constexpr double kPanelHeight = 230;
constexpr double kPanelGap = 66;

/// One dot a trial that has a loss.
struct Panel {
  std::string label{};
  std::vector<double> x{};
  std::vector<double> loss{};
  std::vector<std::string> names{};  ///< of whole x, for choices
  bool log = false;                  ///< x holds decimal logarithms
  bool whole = false;
  std::size_t best = 0;  ///< place of the chosen one
};

double number(const std::string& text) {
  double value = std::numeric_limits<double>::quiet_NaN();
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

Panel by_number(const TuneReport& report) {
  Panel panel{.label = "trial", .whole = true};
  for (const Trial& trial : report.trials) {
    if (!trial.loss()) continue;
    if (report.best == trial.index) panel.best = panel.x.size();
    panel.x.push_back(static_cast<double>(trial.index + 1));
    panel.loss.push_back(*trial.loss());
  }
  return panel;
}

Panel by_value(const TuneReport& report, std::size_t r) {
  const Range& range = report.ranges[r];
  Panel panel{.label = range.key, .names = range.choices, .log = range.is_log()};
  panel.whole = range.kind == RangeKind::kInteger || !range.choices.empty();
  for (const Trial& trial : report.trials) {
    if (!trial.loss()) continue;
    if (report.best == trial.index) panel.best = panel.x.size();
    const auto choice = std::ranges::find(range.choices, trial.values[r]);
    const double value = range.choices.empty()
                             ? number(trial.values[r])
                             : static_cast<double>(choice - range.choices.begin());
    panel.x.push_back(panel.log ? std::log10(value) : value);
    panel.loss.push_back(*trial.loss());
  }
  return panel;
}

/// Ticks of a panel's x axis under names of its own where it needs them.
void draw_x(svg::Canvas& canvas, const svg::PlotArea& area, const Panel& panel) {
  if (!panel.log && panel.names.empty()) {
    svg::draw_x_axis(canvas, area, svg::nice_ticks(area.x.lo, area.x.hi, 8, panel.whole),
                     panel.label);
    return;
  }
  svg::draw_x_axis(canvas, area, {}, panel.label + (panel.log ? " (logarithmic)" : ""));
  std::vector<std::pair<double, std::string>> ticks;
  for (std::size_t i = 0; i < panel.names.size(); ++i)
    ticks.emplace_back(static_cast<double>(i), panel.names[i]);
  const int decades = static_cast<int>(area.x.hi - area.x.lo) + 1;
  for (int p = static_cast<int>(std::floor(area.x.lo)); panel.log && p <= area.x.hi; ++p) {
    for (const int m : {1, 2, 5}) {
      if (m == 1 || decades <= 3)
        ticks.emplace_back(p + std::log10(m), fmt::format("{:g}", m * std::pow(10.0, p)));
    }
  }
  for (const auto& [x, name] : ticks) {
    if (x < area.x.lo || x > area.x.hi) continue;
    canvas.line(area.x_at(x), area.top, area.x_at(x), area.bottom, {.colour = svg::kGridColour});
    canvas.text(area.x_at(x), area.bottom + 17, name,
                {.size = 11.5, .colour = svg::kSoftInk, .anchor = svg::Anchor::kMiddle});
  }
}

void draw(svg::Canvas& canvas, const Panel& panel, double top) {
  svg::PlotArea area{
      .left = 82, .top = top, .right = kWidth - 28, .bottom = top + kPanelHeight - kPanelGap};
  area.x = svg::range_of(panel.x, 0.06);
  area.y = svg::range_of(panel.loss, 0.08);
  draw_x(canvas, area, panel);
  svg::draw_y_axis(canvas, area, svg::nice_ticks(area.y.lo, area.y.hi, 5), "validation loss");
  if (panel.x.empty()) {
    svg::draw_no_data(canvas, area);
    return;
  }
  for (std::size_t i = 0; i < panel.x.size(); ++i) {
    const bool best = i == panel.best;
    canvas.circle(area.x_at(panel.x[i]), area.y_at(panel.loss[i]), best ? 6 : 4,
                  svg::series_colour(best ? 1 : 0), {.colour = svg::kPaper, .width = 1});
  }
}

}  // namespace

std::string to_svg(const TuneReport& report) {
  const double panels = static_cast<double>(report.ranges.size()) + 1;
  const std::string title = "Validation loss of every setting tried";
  std::string subtitle = fmt::format("{} settings", report.looked_at());
  if (report.best) {
    subtitle += fmt::format(", the best is trial {} with {:.5f}", *report.best + 1,
                            *report.trials[*report.best].loss());
  }
  svg::Canvas canvas(kWidth, kTop + panels * kPanelHeight, title, subtitle);
  svg::draw_title(canvas, 28, title, subtitle);
  draw(canvas, by_number(report), kTop);
  for (std::size_t r = 0; r < report.ranges.size(); ++r)
    draw(canvas, by_value(report, r), kTop + static_cast<double>(r + 1) * kPanelHeight);
  return canvas.finish();
}

}  // namespace foxhunt::experiments
