// The picture of a state: a cell a living column in the order of importance, a bar a head.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <regex>

#include "foxhunt/train/inspect_test_report.h"

namespace foxhunt::train {
namespace {

using testing::HasSubstr;
using testing::Not;

struct Rectangle {
  double x, y, width, height;
  std::string fill;
};

std::vector<Rectangle> rectangles(const std::string& svg) {
  const std::regex pattern(
      "<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\" "
      "fill=\"([^\"]+)\"");
  std::vector<Rectangle> found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
    const std::smatch& m = *at;
    found.push_back({std::stod(m[1]), std::stod(m[2]), std::stod(m[3]), std::stod(m[4]), m[5]});
  }
  return found;
}

constexpr std::size_t kScale = 12;  // swatches of the legend

TEST(InspectSvg, DrawsACellALivingColumnAndABarAHead) {
  const InspectReport report = test::small_report();
  const std::string svg = to_svg(report);
  EXPECT_EQ(svg, to_svg(report));
  EXPECT_TRUE(svg.starts_with("<svg"));
  for (const char* foreign : {"<script", "href", "url(", "nan", "inf"})
    EXPECT_THAT(svg, Not(HasSubstr(foreign)));
  const auto all = rectangles(svg);
  ASSERT_EQ(all.size(), 3 + 2 + kScale + 4);  // one of six columns is dead
  // Layer 0: from dark to pale, number 1 first.
  EXPECT_LT(all[0].x, all[1].x);
  EXPECT_EQ(all[0].fill, "#0a3669") << "the largest of all is the darkest";
  EXPECT_EQ(all[1].fill, all[2].fill) << "equal importance, equal colour";
  EXPECT_NE(all[0].fill, all[1].fill);
  EXPECT_LT(svg.find(">1</text>"), svg.find(">0</text>"));
  // Bars: 9.5 bars of memory reach log10(9.5) of the decade from 1 to 10; endless ones fill it.
  const auto* bars = &all[3 + 2 + kScale];
  EXPECT_NEAR(bars[0].height / bars[1].height, std::log10(9.5), 0.001);
  EXPECT_THAT(svg, HasSubstr(">endless</text>"));
  EXPECT_THAT(svg, HasSubstr(">1.1</text>"));
}

TEST(InspectSvg, OfLargeModelsAndOfDeadOnesIsDrawn) {
  InspectReport report = test::small_report();
  report.usage.layers.resize(30, report.usage.layers[0]);
  for (auto& layer : report.usage.layers) {
    layer.columns.assign(2, std::vector<nn::ColumnUsage>(256, {1e-5, 0.1}));
    layer.heads.resize(32, layer.heads[0]);
  }
  for (const Rectangle& r : rectangles(to_svg(report))) {
    EXPECT_GE(r.x, 0);
    EXPECT_LE(r.x + r.width, 760);
    EXPECT_GT(r.width, 0);
    EXPECT_GE(r.height, 0);
  }
  for (auto& layer : report.usage.layers) {
    layer.columns.assign(1, std::vector<nn::ColumnUsage>(4));
    layer.heads.assign(1, {});
  }
  EXPECT_EQ(rectangles(to_svg(report)).size(), 30U) << "no cell, no scale, a bar a head";
}

}  // namespace
}  // namespace foxhunt::train
