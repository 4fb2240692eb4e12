#pragma once
// Pieces of HTML. Everything that comes from a file goes through escape().

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/evaluation/svg/canvas.h"
#include "foxhunt/report/run_files.h"

namespace foxhunt::report {

using evaluation::svg::escape;

/// A number of a file, or why there is none.
struct Reading {
  std::optional<double> value{};
  std::string reason{};

  explicit operator bool() const { return value.has_value(); }
  double operator*() const { return *value; }
  double or_else(double fallback) const { return value.value_or(fallback); }
};

/// The value at `path` of nested objects; nullptr where the way ends.
const Json* find(const Json& json, std::initializer_list<std::string_view> path);
/// The number there. Its reason: `reason` of the object that holds it, else what was found instead.
Reading number(const Json& json, std::initializer_list<std::string_view> path);
/// The text there; `fallback` where there is none.
std::string text(const Json& json, std::initializer_list<std::string_view> path,
                 const std::string& fallback = "");

/// "1.0788" with the digits of `scale`, or n/a (why).
std::string number_html(const Reading& reading, double scale);
std::string not_available(std::string_view why);
/// The name of a metric or quantity, linked to its definition where the page has one.
std::string defined_name(const std::string& id);
/// The same link under other words (HTML).
std::string defined_as(const std::string& id, const std::string& words);
/// "2013-12-18 01:01 UTC" of "2013-12-18T01:01:00Z"; other text as it is. Escaped.
std::string time_html(const std::string& time);
/// "n = 3,632 rows"
std::string sample_count(double n, std::string_view unit);

/// A table in a box of its own that scrolls sideways where it must; cells are HTML. The first
/// column is a heading.
std::string table(const std::vector<std::string>& head,
                  const std::vector<std::vector<std::string>>& rows, std::string_view css = "");
/// Name and value, a line each; HTML.
std::string facts(const std::vector<std::pair<std::string, std::string>>& lines,
                  std::string_view css = "");
/// A section of the page with its heading.
std::string section(const std::string& id, const std::string& title, const std::string& lead,
                    const std::string& body);
/// Opened by a click.
std::string details(const std::string& summary, const std::string& body);
/// A calm box: what is missing and how to get it.
std::string hint(const std::string& html);

}  // namespace foxhunt::report
