// What lies behind a score of classes: calibration, confusion, hours and sessions.
#include <fmt/format.h>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/figure.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;
using evaluation::count_text;
using evaluation::number_text;

svg::CalibrationChart calibration_of(const Json& calibration) {
  svg::CalibrationChart chart;
  for (const auto& [name, one] : calibration.items()) {
    evaluation::ClassCalibration c;
    c.ece = drawable(number(one, {"ece"}));
    const Json* bins = find(one, {"bins"});
    if (bins != nullptr && bins->is_array()) {
      for (const Json& bin : *bins) {
        c.bins.push_back(
            {.rows = number(bin, {"rows"}).or_else(0),
             .predicted = drawable(number(bin, {"predicted"})),
             .observed = drawable(number(bin, {"observed"})),
             .interval = {drawable(number(bin, {"lo"})), drawable(number(bin, {"hi"}))}});
      }
    }
    chart.class_names.push_back(name);
    chart.classes.push_back(std::move(c));
  }
  return chart;
}

std::string calibration_figure(const svg::CalibrationChart& chart, std::size_t k, double rows) {
  Hover hover;
  Hover::Series said{.name = "said", .colour = 5, .y = {}, .text = {}};
  Hover::Series happened{.name = "happened", .colour = k, .y = {}, .text = {}};
  for (const evaluation::CalibrationBin& bin : chart.classes[k].bins) {
    if (!bin.predicted || !bin.observed) continue;
    hover.x.push_back(*bin.predicted);
    hover.headings.push_back(fmt::format("{} rows", count_text(bin.rows)));
    said.y.push_back(*bin.predicted);
    said.text.push_back(number_text(*bin.predicted, 1));
    happened.y.push_back(*bin.observed);
    happened.text.push_back(bin.interval.defined()
                                ? fmt::format("{} ({} to {})", number_text(*bin.observed, 1),
                                              number_text(*bin.interval.lo, 1),
                                              number_text(*bin.interval.hi, 1))
                                : number_text(*bin.observed, 1));
  }
  hover.series = {std::move(said), std::move(happened)};
  return figure_html(
      {.title = defined_as("calibration", "Calibration") + " of " + escape(chart.class_names[k]),
       .caption = fmt::format("said against what happened, with intervals; dashed: "
                              "what is called so happens so; {}",
                              sample_count(rows, "rows")),
       .legend = "",
       .drawing = svg::draw_class(chart, k),
       .hover = std::move(hover),
       .css = ""});
}

std::string confusion_html(const Json& evaluation) {
  const Json* counts = find(evaluation, {"confusion", "counts"});
  const Json* per_class = find(evaluation, {"per_class"});
  if (counts == nullptr || !counts->is_array() || per_class == nullptr || !per_class->is_object())
    return {};
  std::vector<std::string> names;
  for (const auto& [name, values] : per_class->items()) names.push_back(name);
  std::vector<std::string> head{"truth"};
  for (const std::string& name : names) head.push_back("answered " + escape(name));
  head.insert(head.end(),
              {defined_name("recall"), defined_name("precision"), defined_name("f1"), "rows"});
  std::vector<std::vector<std::string>> rows;
  std::string html = "<div class=\"scroll\"><table class=\"confusion\"><thead><tr>";
  for (const std::string& cell : head) html += fmt::format("<th scope=\"col\">{}</th>", cell);
  html += "</tr></thead><tbody>\n";
  for (std::size_t k = 0; k < names.size() && k < counts->size(); ++k) {
    const Json& line = (*counts)[k];
    const Json& values = (*per_class)[names[k]];
    const Reading total = number(values, {"rows"});
    html += fmt::format("<tr><th scope=\"row\">{}</th>", escape(names[k]));
    for (std::size_t j = 0; j < names.size(); ++j) {
      const double n =
          line.is_array() && j < line.size() && line[j].is_number() ? line[j].get<double>() : 0;
      const double share = total && *total > 0 ? n / *total : 0;
      html += fmt::format("<td style=\"--a:{:.3f}\">{}<small>{:.1f} %</small></td>", share,
                          count_text(n), 100 * share);
    }
    for (const char* metric : {"recall", "precision", "f1"}) {
      Reading reading = number(values, {metric});
      if (!reading) reading.reason = "never answered or never true";
      html += fmt::format("<td style=\"--a:0\">{}</td>", number_html(reading, 1));
    }
    html += fmt::format("<td style=\"--a:0\">{}</td></tr>\n", count_text(total.or_else(0)));
  }
  return html + "</tbody></table></div>\n";
}

/// What a group shows: a metric of the model, or what its loss gains over the baseline's.
struct Shown {
  std::string metric;
  bool gain = false;
};

Reading reading_of(const Json& group, const Shown& shown) {
  Reading value = number(group, {"metrics", shown.metric});
  if (!value) value.reason = text(group, {"reasons", shown.metric}, value.reason);
  if (!shown.gain || !value) return value;
  const Reading baseline = number(group, {"baseline", shown.metric});
  if (!baseline) return baseline;
  return {*baseline - *value, {}};
}

/// One bar a group; undefined ones are counted in the caption.
std::string group_figure(const Json& breakdown, const Shown& shown, const std::string& title,
                         const std::string& caption, bool wide) {
  const Json* groups = find(breakdown, {"groups"});
  if (groups == nullptr || !groups->is_array() || groups->empty()) return {};
  const std::string by = text(breakdown, {"by"}, "group");
  const std::string what = shown.gain ? "gain in " + shown.metric : shown.metric;
  Bars bars{.title = title, .caption = caption, .chart = {}, .said = {}, .wide = wide};
  bars.chart.title = fmt::format("{} by {}", what, by);
  bars.chart.x_label = by + " (below: rows)";
  std::size_t undefined = 0;
  std::string why;
  double rows = 0;
  for (const Json& group : *groups) {
    const Reading value = reading_of(group, shown);
    const double n = number(group, {"rows"}).or_else(0);
    rows += n;
    bars.chart.categories.push_back(text(group, {"key"}));
    bars.chart.below.push_back(count_text(n));
    bars.chart.values.push_back(drawable(value));
    bars.said.push_back(
        {fmt::format("{} {}", by, text(group, {"key"})),
         value ? fmt::format("{} {}", what, evaluation::signed_number_text(*value, *value))
               : fmt::format("{} n/a ({})", what, value.reason),
         fmt::format("n = {} rows", count_text(n))});
    if (value) continue;
    why = value.reason;
    ++undefined;
  }
  bars.caption += (caption.empty() ? "" : "; ") + sample_count(rows, "rows");
  if (undefined > 0)
    bars.caption += fmt::format("; n/a in {} of {} ({})", undefined, groups->size(), escape(why));
  return bars_html(bars);
}

/// The baseline that the groups of a breakdown were compared with; "" without one.
std::string baseline_of(const Json& breakdown) {
  const Json* groups = find(breakdown, {"groups"});
  if (groups == nullptr || !groups->is_array() || groups->empty()) return {};
  return text(groups->front(), {"baseline", "name"});
}

}  // namespace

std::string classes_section(const RunFiles& run) {
  const Evaluation* evaluation = headline(run);
  const Json* calibration =
      evaluation == nullptr ? nullptr : find(evaluation->json, {"calibration"});
  if (calibration == nullptr || !calibration->is_object() || calibration->empty()) return {};
  const double rows = number(evaluation->json, {"rows"}).or_else(0);
  const svg::CalibrationChart chart = calibration_of(*calibration);
  std::string figures;
  for (std::size_t k = 0; k < chart.classes.size(); ++k)
    figures += calibration_figure(chart, k, rows);
  return section("classes", "Calibration and confusion",
                 fmt::format("Do the probabilities mean what they say, and what is mistaken for "
                             "what? {} part.",
                             escape(evaluation->split)),
                 fmt::format("<div class=\"grid\">{}</div>\n<h3>{} <span class=\"n\">n = {} "
                             "rows</span></h3>\n{}",
                             figures, defined_as("confusion", "Confusion matrix"), count_text(rows),
                             confusion_html(evaluation->json)));
}

std::string groups_section(const RunFiles& run) {
  const Evaluation* evaluation = headline(run);
  if (evaluation == nullptr) return {};
  const std::vector<std::string> metrics = headline_metrics(evaluation->json);
  std::string figures;
  for (const bool gain : {false, true}) {
    for (const char* key : {"by_hour", "by_session"}) {
      const Json* breakdown = find(evaluation->json, {key});
      if (breakdown == nullptr || metrics.empty()) continue;
      const std::string by = escape(text(*breakdown, {"by"}, "group"));
      const bool wide = std::string_view(key) == "by_hour";
      const std::string baseline = baseline_of(*breakdown);
      if (!gain) {
        figures +=
            group_figure(*breakdown, {"rank_ic"},
                         fmt::format("{} by {}", defined_as("rank_ic", "Rank IC"), by), "", wide);
      } else if (!baseline.empty()) {
        figures += group_figure(
            *breakdown, {metrics.front(), true},
            fmt::format("Gain in {} by {}", defined_name(metrics.front()), by),
            fmt::format("loss of {} minus that of the model: above 0 the model is better",
                        escape(baseline)),
            wide);
      }
    }
  }
  if (figures.empty()) return {};
  return section("when", "When it works",
                 "One good day, or every day a little? Few rows a bar: no intervals, so read the "
                 "pattern and not the bar.",
                 fmt::format("<div class=\"grid\">{}</div>", figures));
}

}  // namespace foxhunt::report
