#include "foxhunt/evaluation/svg/canvas.h"

#include <gtest/gtest.h>

#include <string>

namespace foxhunt::evaluation::svg {
namespace {

TEST(Escape, LeavesNoMarkupAndNoForbiddenByte) {
  EXPECT_EQ(escape("a<b & \"c\">d"), "a&lt;b &amp; &quot;c&quot;&gt;d");
  EXPECT_EQ(escape("Größe ↑"), "Größe ↑");
  EXPECT_EQ(escape(std::string("a\0b", 3)),
            "a\xEF\xBF\xBD"
            "b");
  EXPECT_EQ(escape("\x1b[31m"), "\xEF\xBF\xBD[31m");
  EXPECT_EQ(escape("\xff"), "\xEF\xBF\xBD");
  EXPECT_EQ(escape("x\xc3"), "x\xEF\xBF\xBD");                // cut in the middle
  EXPECT_EQ(escape("\xc3("), "\xEF\xBF\xBD(");                // not continued
  EXPECT_EQ(escape("\xc0\xaf"), "\xEF\xBF\xBD\xEF\xBF\xBD");  // an overlong slash
  EXPECT_EQ(escape("\xF5\x80\x80\x80").substr(0, 3), "\xEF\xBF\xBD");
  EXPECT_EQ(escape(""), "");
}

TEST(Coordinate, IsShortAndHasNoMinusZero) {
  EXPECT_EQ(coordinate(12), "12");
  EXPECT_EQ(coordinate(12.5), "12.5");
  EXPECT_EQ(coordinate(1.0 / 3), "0.33");
  EXPECT_EQ(coordinate(-0.001), "0");
  EXPECT_EQ(coordinate(100), "100");
}

TEST(Canvas, WritesOneDocumentWithTitleAndDescription) {
  Canvas canvas(20, 10, "a & b", "why <not>");
  canvas.line(0, 1, 2, 3, {.colour = "#123456", .width = 1.5, .dashes = "4 2"});
  canvas.path({{0, 0}, {1, 2}}, {});
  canvas.path({}, {});
  canvas.text(5, 6, "t", {.anchor = Anchor::kEnd, .bold = true, .upward = true});
  const std::string text = canvas.finish();
  EXPECT_EQ(text.find("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\""), 0U);
  EXPECT_NE(text.find("<title>a &amp; b</title>\n<desc>why &lt;not&gt;</desc>"), std::string::npos);
  EXPECT_NE(
      text.find("<line x1=\"0\" y1=\"1\" x2=\"2\" y2=\"3\" stroke=\"#123456\" stroke-width=\"1.5\" "
                "stroke-dasharray=\"4 2\"/>"),
      std::string::npos);
  EXPECT_NE(text.find("<path d=\"M0 0L1 2\""), std::string::npos);
  EXPECT_NE(
      text.find("text-anchor=\"end\" font-weight=\"600\" transform=\"rotate(-90 5 6)\">t</text>"),
      std::string::npos);
  EXPECT_EQ(text.substr(text.size() - 7), "</svg>\n");
}

}  // namespace
}  // namespace foxhunt::evaluation::svg
