// Charts as documents: well-formed, self-contained, the same bytes twice, and data where the
// numbers say.
#include "foxhunt/evaluation/svg/charts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <regex>
#include <string>
#include <vector>

#include "foxhunt/base/error.h"

namespace foxhunt::evaluation::svg {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::size_t count(const std::string& text, const std::string& what) {
  std::size_t n = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

/// The numbers of attribute `name` of all elements that begin with `element`.
std::vector<double> attributes(const std::string& svg, const std::string& element,
                               const std::string& name) {
  std::vector<double> values;
  const std::regex pattern(element + "[^>]*? " + name + "=\"([-0-9.]+)\"");
  for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
    values.push_back(std::stod((*at)[1]));
  }
  return values;
}

/// Every element closed in order, every & an entity, every attribute quoted: what an XML parser
/// would insist on.
void expect_well_formed(const std::string& svg) {
  std::vector<std::string> open;
  for (std::size_t at = svg.find('<'); at != std::string::npos; at = svg.find('<', at + 1)) {
    const std::size_t end = svg.find('>', at);
    ASSERT_NE(end, std::string::npos);
    const std::string tag = svg.substr(at + 1, end - at - 1);
    ASSERT_EQ(tag.find('<'), std::string::npos) << tag;
    ASSERT_EQ(count(tag, "\"") % 2, 0U) << tag;
    const std::string name =
        tag.substr(tag[0] == '/' ? 1 : 0, tag.find_first_of(" /", 1) - (tag[0] == '/' ? 1 : 0));
    if (tag[0] == '/') {
      ASSERT_FALSE(open.empty());
      EXPECT_EQ(open.back(), tag.substr(1));
      open.pop_back();
    } else if (tag.back() != '/') {
      open.push_back(name);
    }
  }
  EXPECT_TRUE(open.empty());
  for (std::size_t at = svg.find('&'); at != std::string::npos; at = svg.find('&', at + 1)) {
    EXPECT_TRUE(std::regex_search(svg.substr(at, 7), std::regex("^&(amp|lt|gt|quot);")))
        << svg.substr(at, 10);
  }
}

void expect_clean(const std::string& svg) {
  expect_well_formed(svg);
  for (const char* foreign : {"<script", "href", "url(", "<style", "<image", "nan", "inf"}) {
    EXPECT_THAT(svg, Not(HasSubstr(foreign)));
  }
}

TEST(LossCurve, MarksTheEpochOfTheLowestValidationLoss) {
  const std::string svg =
      loss_curve_svg({1.10, 1.05, 1.00, 0.95}, {1.09, 1.06, 1.07, 1.08}, "log-loss <nats>");
  expect_clean(svg);
  EXPECT_EQ(svg,
            loss_curve_svg({1.10, 1.05, 1.00, 0.95}, {1.09, 1.06, 1.07, 1.08}, "log-loss <nats>"));
  EXPECT_THAT(svg, HasSubstr(">best: epoch 2</text>"));
  EXPECT_THAT(svg, HasSubstr("Lowest validation loss 1.0600 in epoch 2 of 4"));
  EXPECT_THAT(svg, HasSubstr("log-loss &lt;nats&gt;"));
  EXPECT_EQ(count(svg, "<path "), 2U);
  // Four dots of training, four of validation, then the ring: on the second dot of validation.
  const auto xs = attributes(svg, "<circle", "cx");
  const auto ys = attributes(svg, "<circle", "cy");
  ASSERT_EQ(xs.size(), 9U);
  EXPECT_EQ(xs[8], xs[5]);
  EXPECT_EQ(ys[8], ys[5]);
  // Equal epochs apart, and half way down in loss is half way down on the paper.
  EXPECT_NEAR(xs[1] - xs[0], xs[3] - xs[2], 0.011);  // coordinates have two decimals
  EXPECT_NEAR(ys[1], (ys[0] + ys[2]) / 2, 0.011);
  EXPECT_LT(ys[0], ys[3]);
}

TEST(LossCurve, OfOneEpochAndOfNoneIsDrawn) {
  const std::string one = loss_curve_svg({1.1}, {1.2}, "loss");
  expect_clean(one);
  EXPECT_EQ(attributes(one, "<circle", "cx").size(), 3U);
  EXPECT_EQ(count(one, "<path "), 0U);
  const std::string none = loss_curve_svg({}, {}, "loss");
  expect_clean(none);
  EXPECT_THAT(none, HasSubstr(">no data</text>"));
  EXPECT_THAT(none, Not(HasSubstr("best:")));
  const std::string lost = loss_curve_svg({kNaN, kNaN}, {kNaN}, "loss");
  expect_clean(lost);
  EXPECT_THAT(lost, HasSubstr(">no data</text>"));
}

TEST(LineChart, LeavesAGapWhereAValueIsMissing) {
  LineChart chart{.series = {{"a", {1, 2, 3, 4, 5}, {1, 2, kNaN, 2, 1}}}};
  const std::string svg = to_svg(chart);
  expect_clean(svg);
  EXPECT_EQ(count(svg, "<path "), 2U);
  EXPECT_EQ(attributes(svg, "<circle", "cx").size(), 4U);
  chart.series[0].y.pop_back();
  EXPECT_THROW(to_svg(chart), ShapeError);
}

TEST(LineChart, OfManyPointsHasNoDotsButKeepsALonelyOne) {
  LineSeries s{"a", {}, {}};
  for (int i = 0; i < 500; ++i) {
    s.x.push_back(i);
    s.y.push_back(i == 250 || i == 252 ? kNaN : std::sin(i));
  }
  EXPECT_EQ(attributes(to_svg(LineChart{.series = {s}}), "<circle", "cx").size(), 1U);
}

CalibrationBin bin(double rows, double predicted, double observed, double half) {
  return {rows,
          Value::of(predicted),
          Value::of(observed),
          {Value::of(observed - half), Value::of(observed + half)}};
}

TEST(CalibrationChart, PutsAPerfectBinOnTheDiagonalAndAnOverconfidentOneBelow) {
  const ClassCalibration perfect{{bin(100, 0.2, 0.2, 0.05), bin(100, 0.6, 0.6, 0.05)},
                                 Value::of(0)};
  const ClassCalibration over{{bin(50, 0.5, 0.3, 0.05)}, Value::of(0.2)};
  const std::string svg =
      to_svg(CalibrationChart{.class_names = {"down & out", "up"}, .classes = {perfect, over}});
  expect_clean(svg);
  EXPECT_THAT(svg, HasSubstr("down &amp; out"));
  EXPECT_THAT(svg, HasSubstr("mean error 0.2000"));
  EXPECT_THAT(svg, HasSubstr(">100 rows a bin</text>"));
  const auto xs = attributes(svg, "<circle", "cx");
  const auto ys = attributes(svg, "<circle", "cy");
  ASSERT_EQ(xs.size(), 3U);
  // The diagonals are the two dashed lines, from bottom left to top right.
  const std::regex diagonal(
      "<line x1=\"([0-9.]+)\" y1=\"([0-9.]+)\" x2=\"([0-9.]+)\" y2=\"([0-9.]+)\"[^>]*dasharray");
  std::vector<double> above;  // how far each dot lies above its diagonal, in pixels
  std::sregex_iterator line(svg.begin(), svg.end(), diagonal);
  const auto height_at = [](const std::smatch& m, double x) {
    const double t = (x - std::stod(m[1])) / (std::stod(m[3]) - std::stod(m[1]));
    return std::stod(m[2]) + t * (std::stod(m[4]) - std::stod(m[2]));
  };
  EXPECT_NEAR(height_at(*line, xs[0]), ys[0], 0.02);
  EXPECT_NEAR(height_at(*line, xs[1]), ys[1], 0.02);
  EXPECT_GT(ys[2], height_at(*++line, xs[2]) + 20);
  // The strip: 50 rows are half as high as 100.
  const auto heights = attributes(svg, "<rect x=[^>]*", "height");
  ASSERT_EQ(heights.size(), 3U);
  EXPECT_NEAR(heights[2] * 2, heights[0], 0.02);
}

TEST(CalibrationChart, OfNothingOrOfManyClassesIsDrawn) {
  const std::string none = to_svg(CalibrationChart{});
  expect_clean(none);
  EXPECT_THAT(none, HasSubstr(">no data</text>"));
  CalibrationChart five;
  for (int k = 0; k < 5; ++k) {
    five.class_names.push_back(std::to_string(k));
    five.classes.push_back(k == 2
                               ? ClassCalibration{}
                               : ClassCalibration{{bin(10, 0.1 * k, 0.1, 0.01)}, Value::of(0.1)});
  }
  const std::string svg = to_svg(five);
  expect_clean(svg);
  EXPECT_EQ(attributes(svg, "<circle", "cx").size(), 4U);
  EXPECT_EQ(count(svg, ">no data</text>"), 1U);
  five.class_names.pop_back();
  EXPECT_THROW(to_svg(five), ShapeError);
}

TEST(BarChart, StartsEveryBarAtZeroAndTellsSignsApart) {
  const BarChart chart{.title = "t",
                       .categories = {"09", "10", "11"},
                       .below = {"5", "6", "7"},
                       .values = {Value::of(2), Value::of(-1), Value::undefined("no rows")},
                       .positive_name = "better",
                       .negative_name = "worse"};
  const std::string svg = to_svg(chart);
  expect_clean(svg);
  EXPECT_EQ(svg, to_svg(chart));
  const std::regex bar(
      "<rect x=\"([0-9.]+)\" y=\"([0-9.]+)\" width=\"([0-9.]+)\" height=\"([0-9.]+)\" "
      "fill=\"([^\"]+)\"");
  std::vector<std::smatch> bars;
  for (std::sregex_iterator at(svg.begin(), svg.end(), bar), end; at != end; ++at)
    bars.push_back(*at);
  ASSERT_EQ(bars.size(), 4U);  // two swatches of the legend, two bars; none for the undefined
  const double bottom_of_first = std::stod(bars[2][2]) + std::stod(bars[2][4]);
  EXPECT_NEAR(bottom_of_first, std::stod(bars[3][2]), 0.011);  // both at zero
  EXPECT_NEAR(std::stod(bars[2][4]), 2 * std::stod(bars[3][4]), 0.03);
  EXPECT_EQ(bars[2][5], bars[0][5]);
  EXPECT_EQ(bars[3][5], bars[1][5]);
  EXPECT_NE(bars[2][5], bars[3][5]);
  for (const char* label : {">09</text>", ">11</text>", ">7</text>", ">better</text>"})
    EXPECT_THAT(svg, HasSubstr(label));
}

TEST(BarChart, ThinsLabelsThatHaveNoRoomAndSurvivesNothing) {
  BarChart chart;
  for (int i = 0; i < 250; ++i) {
    chart.categories.push_back("2024-01-01");
    chart.values.push_back(Value::of(i));
  }
  const std::string svg = to_svg(chart);
  EXPECT_LE(count(svg, ">2024-01-01</text>"), 12U);
  EXPECT_GE(count(svg, ">2024-01-01</text>"), 5U);
  const std::string none = to_svg(BarChart{});
  expect_clean(none);
  EXPECT_THAT(none, HasSubstr(">no data</text>"));
  const std::string undefined =
      to_svg(BarChart{.categories = {"a"}, .values = {Value::undefined("why")}});
  EXPECT_THAT(undefined, HasSubstr(">no data</text>"));
  chart.values.pop_back();
  EXPECT_THROW(to_svg(chart), ShapeError);
}

TEST(IntervalChart, PutsValuesAndRangesInTheirPlaceAndSaysWhatHasNone) {
  const IntervalChart chart{
      .title = "t",
      .x_label = "loss",
      .rows = {{"model", Value::of(2), {Value::of(1), Value::of(3)}},
               {"a & b", Value::of(4), Interval::undefined("why")},
               {"none", Value::undefined("why"), Interval::undefined("why")}}};
  const Drawing drawing = draw(chart);
  expect_clean(drawing.svg);
  const auto xs = attributes(drawing.svg, "<circle", "cx");
  ASSERT_EQ(xs.size(), 2U);
  EXPECT_NEAR(xs[0], drawing.area.x_at(2), 0.011);  // coordinates have two decimals
  EXPECT_NEAR(xs[1], drawing.area.x_at(4), 0.011);
  EXPECT_THAT(drawing.svg, HasSubstr(">n/a</text>"));
  EXPECT_THAT(drawing.svg, HasSubstr("a &amp; b"));
  EXPECT_GT(drawing.height, draw(IntervalChart{}).height);
}

TEST(BareFrame, HasItsSizeAndNeitherTitleNorLegend) {
  LineChart chart{.title = "the title",
                  .subtitle = "below",
                  .x_label = "epoch",
                  .y_label = "loss",
                  .series = {{"one", {1, 2}, {0, 5}}, {"two", {1, 2}, {1, 4}}}};
  chart.frame = {.width = 380, .height = 236, .bare = true};
  chart.from_zero = true;
  const Drawing drawing = draw(chart);
  expect_clean(drawing.svg);
  EXPECT_THAT(drawing.svg, HasSubstr("width=\"380\" height=\"236\""));
  for (const char* text : {">the title</text>", ">below</text>", ">loss</text>", ">one</text>"})
    EXPECT_THAT(drawing.svg, testing::Not(HasSubstr(text)));
  EXPECT_EQ(drawing.area.y.lo, 0);
  // The last dot of the first series lies where the area says.
  EXPECT_NEAR(attributes(drawing.svg, "<circle", "cy")[1], drawing.area.y_at(5), 0.011);
}

TEST(CalibrationChart, OfOneClassAloneKeepsTheRangeOfAll) {
  CalibrationChart chart{.class_names = {"down", "up"},
                         .classes = {{{bin(10, 0.2, 0.2, 0.05)}, Value::of(0)},
                                     {{bin(10, 0.8, 0.7, 0.05)}, Value::of(0.1)}}};
  const Drawing down = draw_class(chart, 0);
  const Drawing up = draw_class(chart, 1);
  expect_clean(up.svg);
  EXPECT_EQ(down.area.x.lo, up.area.x.lo);
  EXPECT_EQ(down.area.x.hi, up.area.x.hi);
  EXPECT_NEAR(attributes(up.svg, "<circle", "cy").at(0), up.area.y_at(0.7), 0.011);
}

}  // namespace
}  // namespace foxhunt::evaluation::svg
