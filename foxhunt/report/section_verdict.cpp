#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/figure.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;
using evaluation::count_text;
using evaluation::number_text;

struct Word {
  const char* css;
  const char* text;
};

Word word_of(const std::string& edge) {
  if (edge == "shown") return {"shown", "An edge is shown"};
  if (edge == "none") return {"none", "No edge"};
  if (edge == "worse") return {"worse", "No edge: worse than a baseline"};
  return {"none", "No judgement"};
}

std::string rows_text(const Json& evaluation) {
  return fmt::format("<span class=\"n\">n = {} rows, {} sessions</span>",
                     count_text(number(evaluation, {"rows"}).or_else(0)),
                     count_text(number(evaluation, {"sessions"}).or_else(0)));
}

std::string level_text(const Json& evaluation) {
  return fmt::format("{:g} %", 100 * number(evaluation, {"intervals", "level"}).or_else(0.95));
}

std::string interval_text(const Json& holder, double scale) {
  const Reading lo = number(holder, {"lo"});
  const Reading hi = number(holder, {"hi"});
  if (!lo || !hi) return not_available(lo ? hi.reason : lo.reason);
  return fmt::format("{} to {}", number_text(*lo, scale), number_text(*hi, scale));
}

std::string metric_card(const Json& evaluation, const std::string& metric) {
  const Json* own = find(evaluation, {"metrics", metric});
  if (own == nullptr) return {};
  const Reading value = number(*own, {"value"});
  const double scale = value.or_else(0);
  const Json* against = find(evaluation, {"vs_best_baseline", metric});
  std::string best;
  if (against != nullptr) {
    const std::string name = text(*against, {"baseline"});
    const Reading theirs = number(evaluation, {"baselines", name, metric});
    if (!name.empty() && theirs)
      best = fmt::format("<span class=\"r\">best baseline {} ({})</span>",
                         number_text(*theirs, scale), escape(name));
  }
  return fmt::format(
      "<div class=\"card\"><span class=\"k\">{}</span><div class=\"v\">{}</div><span "
      "class=\"r\">{} "
      "{}: {}</span>{}{}</div>\n",
      defined_name(metric), number_html(value, scale), level_text(evaluation),
      defined_as("interval", "interval"), interval_text(*own, scale), best, rows_text(evaluation));
}

/// The epoch with the lowest validation loss.
std::string training_card(const RunFiles& run) {
  const MetricsLine* best = nullptr;
  double seconds = 0;
  for (const MetricsLine& line : run.metrics.epochs) {
    const double loss = line.at("valid_loss");
    if (std::isfinite(loss) && (best == nullptr || loss < best->at("valid_loss"))) best = &line;
    if (std::isfinite(line.at("seconds"))) seconds += line.at("seconds");
  }
  const std::string value =
      best == nullptr ? not_available("no epoch has one yet") : number_text(best->at("valid_loss"));
  const Reading n = number(run.coverage, {"parts", "valid", "labels"});
  return fmt::format(
      "<div class=\"card\"><span class=\"k\">{}</span><div class=\"v\">{}</div><span class=\"r\">{}"
      "</span><span class=\"r\">{} of training</span>{}</div>\n",
      defined_as("valid_loss", "lowest validation loss"), value,
      best == nullptr ? ""
                      : fmt::format("in epoch {:.0f} of {} trained", best->at("epoch"),
                                    run.metrics.epochs.size()),
      format_duration(seconds), n ? sample_count(*n, "labels") : "");
}

std::string say(const Json& evaluation) {
  const Json* lines = find(evaluation, {"verdict", "text"});
  if (lines == nullptr || !lines->is_array() || lines->empty()) return {};
  const auto text_of = [](const Json& line) {
    return line.is_string() ? escape(line.get<std::string>()) : std::string();
  };
  std::string html = fmt::format("<p class=\"say\">{}</p><ul>", text_of(lines->front()));
  for (std::size_t i = 1; i < lines->size(); ++i)
    html += fmt::format("<li>{}</li>", text_of((*lines)[i]));
  return html + "</ul>";
}

svg::IntervalRow interval_row(const std::string& name, const Reading& value, const Json* range) {
  svg::IntervalRow row{.name = name, .value = drawable(value), .interval = {}};
  if (range == nullptr) return row;
  row.interval = {drawable(number(*range, {"lo"})), drawable(number(*range, {"hi"}))};
  return row;
}

/// Model and baselines on one metric, each with its interval.
std::string interval_figure(const Json& evaluation, const std::string& metric) {
  const Json* own = find(evaluation, {"metrics", metric});
  const Json* baselines = find(evaluation, {"baselines"});
  if (own == nullptr || baselines == nullptr || !baselines->is_object()) return {};
  svg::IntervalChart chart{
      .title = metric + " of model and baselines", .x_label = metric, .rows = {}};
  chart.rows.push_back(interval_row("model", number(*own, {"value"}), own));
  for (const auto& [name, values] : baselines->items()) {
    chart.rows.push_back(interval_row(name, number(values, {metric}),
                                      find(evaluation, {"baseline_intervals", name, metric})));
  }
  return figure_html(
      {.title = defined_name(metric),
       .caption = fmt::format("{} intervals; {}", level_text(evaluation), rows_text(evaluation)),
       .legend = "",
       .drawing = svg::draw(chart),
       .hover = {},
       .css = ""});
}

/// +1: higher is better, -1: lower, 0: not compared. By whether the report compared it.
bool is_compared(const Json& evaluation, const std::string& metric) {
  return find(evaluation, {"vs_best_baseline", metric}) != nullptr;
}

std::string metrics_table(const Json& evaluation) {
  const Json* metrics = find(evaluation, {"metrics"});
  const Json* baselines = find(evaluation, {"baselines"});
  if (metrics == nullptr || !metrics->is_object()) return {};
  std::vector<std::string> head{"", "model", level_text(evaluation) + " interval"};
  std::vector<std::string> names;
  if (baselines != nullptr && baselines->is_object()) {
    for (const auto& [name, values] : baselines->items()) names.push_back(name);
  }
  for (const std::string& name : names) head.push_back(escape(name));
  head.push_back(defined_as("difference", "model - best baseline"));
  std::vector<std::vector<std::string>> rows;
  for (const auto& [metric, own] : metrics->items()) {
    const Reading value = number(own, {"value"});
    double scale = std::abs(value.or_else(0));
    for (const std::string& name : names)
      scale = std::max(scale, std::abs(number(evaluation, {"baselines", name, metric}).or_else(0)));
    std::vector<std::string> row{defined_name(metric), number_html(value, scale),
                                 interval_text(own, scale)};
    for (const std::string& name : names) {
      Reading theirs = number(evaluation, {"baselines", name, metric});
      if (!theirs)
        theirs.reason =
            text(evaluation, {"baseline_intervals", name, metric, "reason"}, theirs.reason);
      row.push_back(number_html(theirs, scale));
    }
    if (!is_compared(evaluation, metric)) {
      row.push_back("<span class=\"na\">not compared</span>");
    } else {
      const Json& c = *find(evaluation, {"vs_best_baseline", metric});
      const Reading difference = number(c, {"difference"});
      const std::string better = text(c, {"better"});
      const std::string winner = better == "model"      ? "model better"
                                 : better == "baseline" ? "baseline better"
                                 : better == "neither"  ? "no difference shown"
                                                        : "no interval";
      row.push_back(difference
                        ? fmt::format("{} <span class=\"n\">{}</span>",
                                      evaluation::signed_number_text(*difference, scale), winner)
                        : not_available(difference.reason));
    }
    rows.push_back(std::move(row));
  }
  return table(head, rows);
}

std::string notes_of(const Json& evaluation) {
  const Json* notes = find(evaluation, {"notes"});
  if (notes == nullptr || !notes->is_array() || notes->empty()) return {};
  std::string html = "<div class=\"in\"><ul>";
  for (const Json& note : *notes) {
    if (note.is_string()) html += fmt::format("<li>{}</li>", escape(note.get<std::string>()));
  }
  return details("How the baselines were fitted", html + "</ul></div>");
}

std::string evaluation_body(const Json& evaluation) {
  std::string figures;
  for (const std::string& metric : headline_metrics(evaluation))
    figures += interval_figure(evaluation, metric);
  return fmt::format(
      "<div class=\"grid\">{}</div>\n<h3>Every metric <span class=\"n\">{} · {} · {}"
      "</span></h3>\n{}{}{}",
      figures, rows_text(evaluation), time_html(text(evaluation, {"first"})),
      time_html(text(evaluation, {"last"})), metrics_table(evaluation), trials_block(evaluation),
      notes_of(evaluation));
}

}  // namespace

const Evaluation* headline(const RunFiles& run) {
  return run.evaluations.empty() ? nullptr : &run.evaluations.front();
}

std::vector<std::string> headline_metrics(const Json& evaluation) {
  std::vector<std::string> names;
  const Json* metrics = find(evaluation, {"metrics"});
  if (metrics == nullptr || !metrics->is_object() || metrics->empty()) return names;
  names.push_back(metrics->begin().key());
  for (const char* name : {"accuracy", "r2", "rank_ic"}) {
    if (metrics->contains(name)) names.emplace_back(name);
  }
  return names;
}

std::string verdict_section(const RunFiles& run) {
  const Evaluation* evaluation = headline(run);
  std::string cards;
  std::string box;
  if (evaluation == nullptr) {
    box =
        "<div class=\"verdict none\"><p class=\"word\">Not evaluated yet</p><p class=\"say\">How "
        "good the model is on rows it has not seen says <code>foxhunt evaluate RUN --split test "
        "--baselines</code>; the page has it afterwards.</p></div>";
  } else {
    const Word word = word_of(text(evaluation->json, {"verdict", "edge"}));
    box = fmt::format(
        "<div class=\"verdict {}\"><p class=\"word\">{}</p><p class=\"n\">on the {} part: {}, {} "
        "to {}; an {} is judged by the {} interval of {}</p>{}</div>",
        word.css, word.text, escape(evaluation->split), rows_text(evaluation->json),
        time_html(text(evaluation->json, {"first"}, "?")),
        time_html(text(evaluation->json, {"last"}, "?")), defined_as("edge", "edge"),
        level_text(evaluation->json), defined_as("difference", "model minus best baseline"),
        say(evaluation->json));
    for (const std::string& metric : headline_metrics(evaluation->json))
      cards += metric_card(evaluation->json, metric);
  }
  for (const std::string& problem : run.problems)
    box += hint("Could not be read: " + escape(problem));
  return section(
      "verdict", "Verdict", "",
      fmt::format("{}\n<div class=\"cards\">{}{}</div>", box, cards, training_card(run)));
}

std::string baselines_section(const RunFiles& run) {
  const Evaluation* evaluation = headline(run);
  if (evaluation == nullptr) return {};
  std::string body = evaluation_body(evaluation->json);
  if (find(evaluation->json, {"baselines", "gru"}) == nullptr)
    body += hint(
        "Without the GRU of like size: <code>foxhunt evaluate RUN --baselines</code> "
        "trains one.");
  for (const Evaluation& other : run.evaluations) {
    if (&other == evaluation) continue;
    body += details(fmt::format("The same on the {} part", escape(other.split)),
                    fmt::format("<div class=\"in\">{}</div>", evaluation_body(other.json)));
  }
  return section("baselines", "Model beside baselines",
                 fmt::format("Every {} answers the same rows of the {} part; an {} comes from the "
                             "same resamples for all ({}).",
                             defined_as("baseline", "forecaster"), escape(evaluation->split),
                             defined_as("interval", "interval"),
                             escape(text(evaluation->json, {"intervals", "blocks"}))),
                 body);
}

}  // namespace foxhunt::report
