// The picture of a state: importance by layer and column above, memory by head below.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/svg/axis.h"
#include "foxhunt/evaluation/svg/canvas.h"
#include "foxhunt/train/inspect.h"

namespace foxhunt::train {
namespace {

namespace svg = foxhunt::evaluation::svg;
using svg::Anchor;

constexpr double kWidth = 760;
constexpr double kLeft = 82;
constexpr double kRight = kWidth - 28;
constexpr double kBarsHeight = 190;
constexpr double kDecades = 3;  // of importance that the colours span below the largest
constexpr int kShades = 12;

/// One row of the heat map: a group of a layer.
struct MapRow {
  std::string name;
  const std::vector<nn::ColumnUsage>* columns;
};

std::vector<MapRow> map_rows(const nn::StateUsage& usage) {
  std::vector<MapRow> rows;
  for (std::size_t i = 0; i < usage.layers.size(); ++i) {
    const auto& groups = usage.layers[i].columns;
    for (std::size_t g = 0; g < groups.size(); ++g) {
      rows.push_back(
          {groups.size() > 1 ? fmt::format("layer {}.{}", i, g) : fmt::format("layer {}", i),
           &groups[g]});
    }
  }
  return rows;
}

/// From nearly white (0) to dark blue (1), in a few steps: one hue, so that grey shows the same.
std::string shade(double level) {
  const double t = std::round(std::clamp(level, 0.0, 1.0) * (kShades - 1)) / (kShades - 1);
  constexpr std::array kPale{232.0, 240.0, 248.0};
  constexpr std::array kDeep{10.0, 54.0, 105.0};
  std::array<int, 3> rgb{};
  for (std::size_t i = 0; i < 3; ++i)
    rgb[i] = static_cast<int>(std::lround(kPale[i] + t * (kDeep[i] - kPale[i])));
  return fmt::format("#{:02x}{:02x}{:02x}", rgb[0], rgb[1], rgb[2]);
}

/// 1 for the largest, 0 for kDecades below it and less.
double level_of(double importance, double largest) {
  return 1 + std::log10(std::max(importance / largest, 1e-300)) / kDecades;
}

void draw_row(svg::Canvas& canvas, const MapRow& row, double top, double height, double largest) {
  std::vector<std::size_t> order(row.columns->size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return (*row.columns)[a].importance > (*row.columns)[b].importance;
  });
  const double cell = (kRight - kLeft) / static_cast<double>(order.size());
  canvas.text(kLeft - 8, top + height / 2 + 4, row.name,
              {.size = 11.5, .colour = svg::kSoftInk, .anchor = Anchor::kEnd});
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double importance = (*row.columns)[order[i]].importance;
    if (!(importance > 0)) continue;
    const double level = level_of(importance, largest);
    const double x = kLeft + static_cast<double>(i) * cell;
    canvas.rectangle(x, top, cell > 4 ? cell - 1 : cell, height - 1, shade(level));
    if (cell < 18) continue;
    canvas.text(
        x + cell / 2, top + height / 2 + 4, fmt::format("{}", order[i]),
        {.size = 10, .colour = level > 0.55 ? svg::kPaper : svg::kInk, .anchor = Anchor::kMiddle});
  }
}

void draw_scale(svg::Canvas& canvas, double y, double largest) {
  const double swatch = 16;
  double x = kLeft;
  const auto label = [&](double value) {
    const std::string text = fmt::format("{:.1e}", value);
    canvas.text(x, y + 10, text, {.size = 11, .colour = svg::kSoftInk});
    x += svg::text_width(text, 11) + 8;
  };
  label(largest * std::pow(10.0, -kDecades));
  for (int i = 0; i < kShades; ++i, x += swatch)
    canvas.rectangle(x, y, swatch, 12, shade(static_cast<double>(i) / (kShades - 1)));
  x += 8;
  label(largest);
  canvas.text(x + 6, y + 10, "estimated rise of a row's loss without the column; white: dead",
              {.size = 11, .colour = svg::kSoftInk});
}

struct Bar {
  std::size_t layer;
  std::size_t head;
  double memory;
};

std::vector<Bar> bars_of(const nn::StateUsage& usage) {
  std::vector<Bar> bars;
  for (std::size_t i = 0; i < usage.layers.size(); ++i)
    for (std::size_t h = 0; h < usage.layers[i].heads.size(); ++h)
      bars.push_back({i, h, usage.layers[i].heads[h].memory});
  return bars;
}

/// Decades that hold every finite memory of a hundredth of a bar or more.
svg::Range decades_of(const std::vector<Bar>& bars) {
  double lo = 0;
  double hi = 1;
  for (const Bar& bar : bars) {
    if (!std::isfinite(bar.memory) || bar.memory <= 0) continue;
    lo = std::min(lo, std::max(-2.0, std::floor(std::log10(bar.memory))));
    hi = std::max(hi, std::ceil(std::log10(bar.memory)));
  }
  return {lo, hi};
}

void draw_memory(svg::Canvas& canvas, double top, const nn::StateUsage& usage) {
  const std::vector<Bar> bars = bars_of(usage);
  svg::PlotArea area{.left = kLeft, .top = top, .right = kRight, .bottom = top + kBarsHeight};
  area.y = decades_of(bars);
  canvas.text(20, top - 14, "Memory by head, in bars",
              {.size = 13, .colour = svg::kInk, .bold = true});
  const int decades = static_cast<int>(std::floor(area.y.hi - area.y.lo));
  for (int i = 0; i <= decades; ++i) {
    const double decade = area.y.lo + i;
    const double y = area.y_at(decade);
    canvas.line(area.left, y, area.right, y, {.colour = svg::kGridColour});
    const double value = std::pow(10.0, decade);
    canvas.text(area.left - 8, y + 4,
                decade < 0 ? fmt::format("{:g}", value) : evaluation::count_text(value),
                {.size = 11.5, .colour = svg::kSoftInk, .anchor = Anchor::kEnd});
  }
  const double slot = area.width() / static_cast<double>(std::max<std::size_t>(bars.size(), 1));
  const double width = std::min(0.7 * slot, 34.0);
  for (std::size_t i = 0; i < bars.size(); ++i) {
    const double middle = area.left + (static_cast<double>(i) + 0.5) * slot;
    const double decade = std::log10(std::max(bars[i].memory, 1e-300));  // endless: the top
    const double to = area.y_at(std::clamp(decade, area.y.lo, area.y.hi));
    canvas.rectangle(middle - width / 2, to, width, area.bottom - to,
                     svg::series_colour(bars[i].layer));
    if (slot >= 26) {
      canvas.text(middle, area.bottom + 16, fmt::format("{}.{}", bars[i].layer, bars[i].head),
                  {.size = 11, .colour = svg::kInk, .anchor = Anchor::kMiddle});
    }
    if (slot >= 34) {
      canvas.text(
          middle, to - 5,
          !std::isfinite(bars[i].memory) ? "endless" : fmt::format("{:.3g}", bars[i].memory),
          {.size = 10, .colour = svg::kSoftInk, .anchor = Anchor::kMiddle});
    }
  }
  canvas.line(area.left, area.bottom, area.right, area.bottom,
              {.colour = svg::kSoftInk, .width = 1.25});
  canvas.text((area.left + area.right) / 2, area.bottom + 36,
              "layer.head; a past input has decayed to 1/e after so many bars",
              {.size = 12, .colour = svg::kSoftInk, .anchor = Anchor::kMiddle});
}

}  // namespace

std::string to_svg(const InspectReport& report) {
  const std::vector<MapRow> rows = map_rows(report.usage);
  double largest = 0;
  for (const MapRow& row : rows)
    for (const nn::ColumnUsage& column : *row.columns)
      largest = std::max(largest, column.importance);
  const double height = rows.size() > 16 ? 14 : 24;
  const double map_top = 88;
  const double map_bottom = map_top + height * static_cast<double>(rows.size());
  const std::string title = "What the state is used for";
  const std::string subtitle = fmt::format(
      "{} rows of the part '{}'; columns of each layer, the most important first, with "
      "their numbers",
      evaluation::count_text(static_cast<double>(report.usage.rows)), report.split);
  svg::Canvas canvas(kWidth, map_bottom + 90 + kBarsHeight + 52, title, subtitle);
  svg::draw_title(canvas, 20, title, subtitle);
  canvas.text(20, map_top - 14, "Importance by column",
              {.size = 13, .colour = svg::kInk, .bold = true});
  for (std::size_t i = 0; i < rows.size(); ++i)
    draw_row(canvas, rows[i], map_top + static_cast<double>(i) * height, height, largest);
  if (largest > 0) draw_scale(canvas, map_bottom + 12, largest);
  draw_memory(canvas, map_bottom + 90, report.usage);
  return canvas.finish();
}

}  // namespace foxhunt::train
