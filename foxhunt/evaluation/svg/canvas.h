#pragma once
// SVG as text: a handful of shapes, no scripts, no style sheets, nothing from elsewhere. The same
// calls give the same bytes.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace foxhunt::evaluation::svg {

/// Dark on light; the hues stay apart for colour-blind eyes and in grey.
inline constexpr const char* kInk = "#1c2733";
inline constexpr const char* kSoftInk = "#5a6875";
inline constexpr const char* kGridColour = "#e7ebef";
inline constexpr const char* kAxisColour = "#aab4be";
inline constexpr const char* kPaper = "#ffffff";
inline constexpr const char* kNegativeColour = "#c8503c";  ///< of bars below 0
/// Of the n-th series or class, of kSeriesColours before they repeat.
inline constexpr std::size_t kSeriesColours = 6;
const char* series_colour(std::size_t n);

struct Stroke {
  std::string colour = kInk;
  double width = 1;
  std::string dashes{};  ///< as stroke-dasharray; empty: solid
};

enum class Anchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;
  std::string colour = kInk;
  Anchor anchor = Anchor::kStart;
  bool bold = false;
  bool upward = false;  ///< turned to be read from below
};

/// Coordinates in pixels from the top left corner.
class Canvas {
 public:
  /// `title` and `description` are what a screen reader says.
  Canvas(double width, double height, std::string_view title, std::string_view description);

  void line(double x1, double y1, double x2, double y2, const Stroke& stroke);
  void path(const std::vector<std::pair<double, double>>& points, const Stroke& stroke);
  void rectangle(double x, double y, double width, double height, const std::string& fill,
                 double opacity = 1);
  void circle(double x, double y, double radius, const std::string& fill, const Stroke& edge);
  void text(double x, double y, std::string_view what, const TextStyle& style);

  /// The whole document.
  std::string finish() const;

 private:
  std::string body_;
};

/// Markup characters as entities; characters that XML forbids and bytes that are no UTF-8 become
/// U+FFFD.
std::string escape(std::string_view text);
/// At most two decimals, no trailing zeros, no minus zero.
std::string coordinate(double x);
/// Roughly how wide a text of this size is drawn.
double text_width(std::string_view text, double size);

}  // namespace foxhunt::evaluation::svg
