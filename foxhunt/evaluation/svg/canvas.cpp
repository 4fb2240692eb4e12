#include "foxhunt/evaluation/svg/canvas.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace foxhunt::evaluation::svg {
namespace {

/// Length of the UTF-8 sequence at the front of `text`, 0 when there is none.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  std::size_t length = 1;
  if (byte(0) >= 0xF0 && byte(0) <= 0xF4) {
    length = 4;
  } else if (byte(0) >= 0xE0) {
    length = byte(0) < 0xF0 ? 3 : 0;
  } else if (byte(0) >= 0xC2) {
    length = 2;
  } else if (byte(0) >= 0x80) {
    length = 0;
  }
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return 0;
  }
  return length;
}

std::string stroke_attributes(const Stroke& stroke) {
  std::string text = fmt::format(" stroke=\"{}\" stroke-width=\"{}\"", escape(stroke.colour),
                                 coordinate(stroke.width));
  if (!stroke.dashes.empty())
    text += fmt::format(" stroke-dasharray=\"{}\"", escape(stroke.dashes));
  return text;
}

}  // namespace

const char* series_colour(std::size_t n) {
  static constexpr const char* kColours[kSeriesColours] = {"#1f6fb4", "#d1661a", "#2a8a5b",
                                                           "#7a55a8", "#a8324a", "#5a6875"};
  return kColours[n % kSeriesColours];
}

std::string escape(std::string_view text) {
  constexpr const char* kReplacement = "\xEF\xBF\xBD";
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const char c = text.front();
    if (length == 0 ||
        (length == 1 && static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n')) {
      safe += kReplacement;
    } else if (c == '&') {
      safe += "&amp;";
    } else if (c == '<') {
      safe += "&lt;";
    } else if (c == '>') {
      safe += "&gt;";
    } else if (c == '"') {
      safe += "&quot;";
    } else {
      safe += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return safe;
}

std::string coordinate(double x) {
  std::string text = fmt::format("{:.2f}", x);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

double text_width(std::string_view text, double size) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return 0.56 * size *
         static_cast<double>(letters);  // the mean letter of the usual sans-serif fonts
}

Canvas::Canvas(double width, double height, std::string_view title, std::string_view description) {
  body_ = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} "
      "{1}\" role=\"img\" "
      "font-family=\"'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n",
      coordinate(width), coordinate(height), escape(title), escape(description));
  body_ += fmt::format("<rect width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\"/>\n",
                       coordinate(width), coordinate(height), kPaper);
}

void Canvas::line(double x1, double y1, double x2, double y2, const Stroke& stroke) {
  body_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", coordinate(x1),
                       coordinate(y1), coordinate(x2), coordinate(y2), stroke_attributes(stroke));
}

void Canvas::path(const std::vector<std::pair<double, double>>& points, const Stroke& stroke) {
  if (points.empty()) return;
  std::string d;
  for (const auto& [x, y] : points) {
    d += fmt::format("{}{} {}", d.empty() ? "M" : "L", coordinate(x), coordinate(y));
  }
  body_ += fmt::format(
      "<path d=\"{}\" fill=\"none\" stroke-linejoin=\"round\" stroke-linecap=\"round\"{}/>\n", d,
      stroke_attributes(stroke));
}

void Canvas::rectangle(double x, double y, double width, double height, const std::string& fill,
                       double opacity) {
  body_ +=
      fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"{}\"{}/>\n",
                  coordinate(x), coordinate(y), coordinate(width), coordinate(height), escape(fill),
                  opacity < 1 ? fmt::format(" fill-opacity=\"{}\"", coordinate(opacity)) : "");
}

void Canvas::circle(double x, double y, double radius, const std::string& fill,
                    const Stroke& edge) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" fill=\"{}\"{}/>\n", coordinate(x),
                       coordinate(y), coordinate(radius), escape(fill), stroke_attributes(edge));
}

void Canvas::text(double x, double y, std::string_view what, const TextStyle& style) {
  const char* anchor = style.anchor == Anchor::kMiddle ? " text-anchor=\"middle\""
                       : style.anchor == Anchor::kEnd  ? " text-anchor=\"end\""
                                                       : "";
  const std::string turn =
      style.upward ? fmt::format(" transform=\"rotate(-90 {} {})\"", coordinate(x), coordinate(y))
                   : "";
  body_ += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"{}\"{}{}{}>{}</text>\n",
                       coordinate(x), coordinate(y), coordinate(style.size), escape(style.colour),
                       anchor, style.bold ? " font-weight=\"600\"" : "", turn, escape(what));
}

std::string Canvas::finish() const { return body_ + "</svg>\n"; }

}  // namespace foxhunt::evaluation::svg
