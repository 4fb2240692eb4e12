// What the run learned from: files, parts, trading days, gaps.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

using evaluation::count_text;

constexpr std::size_t kOpenMonths = 24;  ///< of the calendar that are shown without a click

std::string count_html(const Json& json, std::initializer_list<std::string_view> path) {
  const Reading n = number(json, path);
  return n ? count_text(*n) : not_available(n.reason);
}

/// What the data doctor said of a file, as the lock of the run has it.
std::string check_html(const Json& file) {
  const Json* checked = find(file, {"checked"});
  if (checked == nullptr || !checked->is_object())
    return not_available("nobody checked it; foxhunt data check --lock does");
  std::string html =
      fmt::format("{} errors, {} warnings, {} notes", count_html(*checked, {"errors"}),
                  count_html(*checked, {"warnings"}), count_html(*checked, {"infos"}));
  const Json* findings = find(*checked, {"findings"});
  if (findings == nullptr || !findings->is_object()) return html;
  for (const auto& [rule, n] : findings->items()) {
    html += fmt::format("<br>{} {}", escape(rule),
                        n.is_number() ? count_text(n.get<double>()) : not_available("no number"));
  }
  return html;
}

std::string files_html(const RunFiles& run) {
  if (!run.data_lock.is_array())
    return hint("data.lock is not there: which files the run read is not recorded.");
  std::string html;
  for (const Json& file : run.data_lock) {
    const std::string path = text(file, {"path"}, "?");
    const Reading size = number(file, {"bytes"});
    html += facts(
        {{"file", fmt::format("<code>{}</code>", escape(path.substr(path.find_last_of('/') + 1)))},
         {"range", fmt::format("{} to {}", time_html(text(file, {"first"}, "?")),
                               time_html(text(file, {"last"}, "?")))},
         {"bars", count_html(file, {"bars"})},
         {"size",
          size ? format_bytes(static_cast<std::int64_t>(*size)) : not_available(size.reason)},
         {defined_as("sha256", "SHA-256"),
          fmt::format("<code>{}</code>", escape(text(file, {"sha256"}, "?")))},
         {"data check", check_html(file)},
         {"read from", fmt::format("<code>{}</code>", escape(path))}},
        "one");
  }
  return html;
}

std::string parts_html(const Json& coverage) {
  const Json* parts = find(coverage, {"parts"});
  if (parts == nullptr || !parts->is_object()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, part] : parts->items()) {
    rows.push_back({escape(name), count_html(part, {"days"}), count_html(part, {"rows"}),
                    count_html(part, {"labels"}), time_html(text(part, {"first"}, "n/a")),
                    time_html(text(part, {"last"}, "n/a"))});
  }
  return table({"part", "trading days", defined_name("rows"), defined_name("labels"), "first row",
                "last row"},
               rows);
}

/// One trading day, with its parts in the order of the file.
struct Day {
  std::vector<const Json*> entries{};
  double rows = 0;
};

std::string minutes_text(double minutes) {
  return minutes == std::floor(minutes) ? fmt::format("{:.0f} min", minutes)
                                        : fmt::format("{:.1f} min", minutes);
}

std::string day_html(const std::string& date, const Day& day, double most) {
  std::string title = date;
  double longest = 0;
  for (const Json* entry : day.entries) {
    title += fmt::format("\n{}: {} rows, {} labels", text(*entry, {"part"}, "?"),
                         count_text(number(*entry, {"rows"}).or_else(0)),
                         count_text(number(*entry, {"labels"}).or_else(0)));
    const double gap = number(*entry, {"longest_gap_minutes"}).or_else(0);
    longest = std::max(longest, gap);
    if (gap > 0)
      title += fmt::format(", {} without a row, longest gap {}",
                           minutes_text(number(*entry, {"missing_minutes"}).or_else(0)),
                           minutes_text(gap));
  }
  static const std::map<std::string, int> kParts{
      {"train", 0}, {"valid", 1}, {"test", 2}, {"purged", 3}};
  const auto part = kParts.find(text(*day.entries.front(), {"part"}));
  return fmt::format(
      "<div class=\"day{}\" title=\"{}\" aria-label=\"{}\"><s class=\"p{}\" "
      "style=\"width:{:.0f}%\"></s>"
      "<span>{}</span></div>",
      longest >= 60 ? " gap" : "", escape(title), escape(title),
      part == kParts.end() ? 3 : part->second, most > 0 ? 100 * day.rows / most : 0.0,
      escape(date.size() == 10 ? date.substr(8) : date));
}

std::string calendar_html(const Json& days_json) {
  std::map<std::string, Day> days;
  double most = 0;
  for (const Json& entry : days_json) {
    Day& day = days[text(entry, {"date"}, "?")];
    day.entries.push_back(&entry);
    day.rows += number(entry, {"rows"}).or_else(0);
    most = std::max(most, day.rows);
  }
  std::map<std::string, std::string> months;
  for (const auto& [date, day] : days) months[date.substr(0, 7)] += day_html(date, day, most);
  std::string html = "<div class=\"calendar\">";
  for (const auto& [month, cells] : months)
    html += fmt::format("<div class=\"month\"><span>{}</span><div class=\"days\">{}</div></div>\n",
                        escape(month), cells);
  html += "</div>";
  const std::string legend =
      "<span class=\"legend\"><span><i class=\"p0\"></i>train</span><span><i class=\"p1\"></i>valid"
      "</span><span><i class=\"p2\"></i>test</span><span><i class=\"p3\"></i>purged</span><span><i "
      "class=\"gapmark\"></i>a gap of an hour or more</span></span>";
  const std::string heading = fmt::format(
      "<h3>Trading days <span class=\"n\">n = {} days; the filled width is the share of {} rows, "
      "the most of a day</span></h3>{}",
      days.size(), count_text(most), legend);
  if (months.size() > kOpenMonths)
    return heading + details(fmt::format("{} months", months.size()), html);
  return heading + "<div class=\"box\">" + html + "</div>";
}

/// The longest gaps, with where they are.
std::string gaps_html(const Json& days) {
  std::vector<const Json*> with_gap;
  for (const Json& day : days) {
    if (number(day, {"longest_gap_minutes"}).or_else(0) > 0) with_gap.push_back(&day);
  }
  const std::string gap = defined_as("gap", "Gaps");
  if (with_gap.empty())
    return fmt::format("<h3>{}</h3><p class=\"lead\">No trading day has one.</p>", gap);
  std::stable_sort(with_gap.begin(), with_gap.end(), [](const Json* a, const Json* b) {
    return number(*a, {"longest_gap_minutes"}).or_else(0) >
           number(*b, {"longest_gap_minutes"}).or_else(0);
  });
  const std::size_t shown = std::min<std::size_t>(with_gap.size(), 10);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < shown; ++i) {
    const Json& day = *with_gap[i];
    rows.push_back({escape(text(day, {"date"}, "?")), escape(text(day, {"part"}, "?")),
                    minutes_text(number(day, {"longest_gap_minutes"}).or_else(0)),
                    time_html(text(day, {"longest_gap_from"}, "n/a")),
                    minutes_text(number(day, {"missing_minutes"}).or_else(0)),
                    count_html(day, {"rows"})});
  }
  return fmt::format("<h3>{} <span class=\"n\">the longest {} of {} days with one</span></h3>", gap,
                     shown, with_gap.size()) +
         table({"trading day", "part", "longest gap", "behind", "without a row", "rows"}, rows);
}

}  // namespace

std::string data_section(const RunFiles& run) {
  std::string body = files_html(run);
  if (run.coverage.is_object()) {
    body += "<h3>Parts</h3>" + parts_html(run.coverage);
    const Json* days = find(run.coverage, {"days"});
    if (days != nullptr && days->is_array() && !days->empty())
      body += calendar_html(*days) + gaps_html(*days);
    const std::string summary = text(run.coverage, {"summary"});
    if (!summary.empty()) body += fmt::format("<p class=\"lead\">{}</p>", escape(summary));
  } else {
    body += hint(
        "Rows by trading day, and gaps, are not recorded in this run (coverage.json is "
        "written when a training begins).");
  }
  const std::string product = run.setting_text("data.product");
  return section("data", "Data",
                 product.empty() ? "" : "Product " + escape(product) + ". Times are UTC.", body);
}

}  // namespace foxhunt::report
