// One page that needs nothing from elsewhere.
#include <fmt/format.h>

#include <cmath>
#include <map>

#include "foxhunt/evaluation/svg/canvas.h"
#include "foxhunt/evaluation/svg/charts.h"
#include "foxhunt/train/bench_train/bench_report.h"
#include "foxhunt/train/bench_train/bench_words.h"

namespace foxhunt::train {
namespace {

namespace svg = evaluation::svg;

constexpr const char* kStyle = R"(
:root{color-scheme:light dark;--ink:#1c2733;--soft:#5a6875;--paper:#fff;--line:#e7ebef}
@media (prefers-color-scheme:dark){:root{--ink:#e6ebf0;--soft:#9aa7b4;--paper:#12181f;--line:#2a343f}}
body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper);max-width:72rem;margin:2rem auto;padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}p{max-width:60rem}
.wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .7rem;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th.t,td.t{text-align:left}th{color:var(--soft);font-weight:600}
svg{max-width:100%;height:auto;background:#fff;border-radius:6px}
)";

/// Rows a second over windows a step, a line a family.
std::string chart(const BenchReport& report) {
  svg::LineChart chart{.title = "Rows a second by batch",
                       .subtitle = "medians; batch on a logarithmic axis of base 2",
                       .x_label = "log2 of windows a step",
                       .y_label = "rows/s"};
  std::map<std::string, svg::LineSeries> lines;
  std::vector<std::string> order;
  for (const BenchedCase& one : report.cases) {
    if (one.record.visits.empty()) continue;
    const std::string family = one.record.which.family();
    if (lines.find(family) == lines.end()) order.push_back(family);
    svg::LineSeries& line = lines[family];
    line.name = family;
    line.x.push_back(std::log2(static_cast<double>(one.record.which.batch)));
    line.y.push_back(one.summary.rows_per_second.value);
  }
  for (const std::string& family : order) chart.series.push_back(lines[family]);
  return svg::to_svg(chart);
}

std::string table(const WordTable& words) {
  std::string text = "<div class=\"wide\"><table>";
  for (std::size_t i = 0; i < words.rows.size(); ++i) {
    const char* tag = i == 0 ? "th" : "td";
    text += "<tr>";
    for (std::size_t c = 0; c < words.rows[i].size(); ++c) {
      text += fmt::format("<{0}{1}>{2}</{0}>", tag, c < words.text_columns ? " class=\"t\"" : "",
                          svg::escape(words.rows[i][c]));
    }
    text += "</tr>\n";
  }
  return text + "</table></div>\n";
}

}  // namespace

std::string to_html(const BenchReport& report) {
  const std::string title = svg::escape("Training benchmark: " + report.experiment);
  std::string text = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<title>{0}</title><style>{1}</style></head>\n<body><h1>{0}</h1>\n",
      title, kStyle);
  for (const std::string& line : opening_lines(report))
    text += fmt::format("<p>{}</p>\n", svg::escape(line));
  text += chart(report);
  for (const WordTable& words : tables_of(report)) {
    text += fmt::format("<h2>{}</h2>\n", svg::escape(words.title));
    if (!words.about.empty()) text += fmt::format("<p>{}</p>\n", svg::escape(words.about));
    text += table(words);
  }
  return text + "</body></html>\n";
}

}  // namespace foxhunt::train
