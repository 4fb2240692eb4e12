// A page over several runs.
#include <fmt/format.h>

#include <cmath>
#include <set>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/figure.h"
#include "foxhunt/report/glossary.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/page.h"
#include "foxhunt/report/page_frame.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;
using evaluation::count_text;
using evaluation::number_text;

/// The evaluation of `split`; nullptr without one.
const Json* evaluation_of(const RunFiles& run, const std::string& split) {
  for (const Evaluation& evaluation : run.evaluations) {
    if (evaluation.split == split) return &evaluation.json;
  }
  return nullptr;
}

/// The best part that every run was scored on; "" when there is none.
std::string common_split(const std::vector<RunFiles>& runs) {
  for (const char* split : {"test", "valid", "train"}) {
    bool all = true;
    for (const RunFiles& run : runs) all = all && evaluation_of(run, split) != nullptr;
    if (all) return split;
  }
  return {};
}

std::string hashes_of(const RunFiles& run) {
  std::string hashes;
  if (run.data_lock.is_array()) {
    for (const Json& file : run.data_lock) hashes += text(file, {"sha256"}) + " ";
  }
  return hashes;
}

/// What says which rows an evaluation spoke of, and what was asked about them. Same text: same
/// rows.
std::vector<std::pair<const char*, std::string>> rows_identity(const RunFiles& run,
                                                               const Json& evaluation) {
  std::string sessions;
  if (const Json* groups = find(evaluation, {"by_session", "groups"})) {
    for (const Json& group : *groups)
      sessions += fmt::format("{} {} ", text(group, {"key"}), number(group, {"rows"}).or_else(0));
  }
  std::string labels;
  for (const ConfigLine& line : run.config) {
    if (line.section == "label") labels += line.key + "=" + line.value + " ";
  }
  const Json* task = find(evaluation, {"task"});
  return {{"the files (SHA-256)", hashes_of(run)},
          {"the number of rows", fmt::format("{}", number(evaluation, {"rows"}).or_else(0))},
          {"the first row", text(evaluation, {"first"})},
          {"the last row", text(evaluation, {"last"})},
          {"the rows of each session", sessions},
          {"the label's settings", labels},
          {"the task", task == nullptr ? "" : task->dump()}};
}

struct Rows {
  bool same = true;
  std::string html;
};

Rows rows_of(const std::vector<RunFiles>& runs, const std::string& split) {
  const auto first = rows_identity(runs.front(), *evaluation_of(runs.front(), split));
  std::set<std::string> differ;
  for (const RunFiles& run : runs) {
    const auto one = rows_identity(run, *evaluation_of(run, split));
    for (std::size_t i = 0; i < first.size(); ++i) {
      if (one[i].second != first[i].second) differ.insert(one[i].first);
    }
  }
  if (differ.empty()) {
    const Json& evaluation = *evaluation_of(runs.front(), split);
    return {
        true,
        fmt::format("All runs were scored on the same rows of the {} part: {} rows, {} to "
                    "{}, of the same files, with the same labels. Intervals are of each run "
                    "alone: that two overlap does not say that no run is better.",
                    escape(split), count_text(number(evaluation, {"rows"}).or_else(0)),
                    time_html(text(evaluation, {"first"})), time_html(text(evaluation, {"last"})))};
  }
  std::string what;
  for (const std::string& name : differ) what += (what.empty() ? "" : ", ") + name;
  return {false,
          fmt::format("<b>The rows differ</b> ({}): the numbers stand side by side, but none of "
                      "them says which run is better.",
                      escape(what))};
}

std::string cell(const Json* evaluation, const std::string& metric, double scale) {
  if (evaluation == nullptr) return not_available("not evaluated");
  const Json* own = find(*evaluation, {"metrics", metric});
  if (own == nullptr) return not_available("not a metric of this task");
  const Reading value = number(*own, {"value"});
  const Reading lo = number(*own, {"lo"});
  const Reading hi = number(*own, {"hi"});
  std::string html = number_html(value, scale);
  if (lo && hi)
    html += fmt::format("<br><span class=\"n\">{} to {}</span>", number_text(*lo, scale),
                        number_text(*hi, scale));
  return html;
}

std::string edge_text(const Json* evaluation) {
  if (evaluation == nullptr) return not_available("not evaluated");
  const std::string edge = text(*evaluation, {"verdict", "edge"}, "unknown");
  return edge == "shown"   ? "shown"
         : edge == "none"  ? "no edge"
         : edge == "worse" ? "worse"
                           : "unknown";
}

std::string scores_html(const std::vector<RunFiles>& runs, const std::string& split) {
  std::vector<std::string> metrics;
  std::set<std::string> seen;
  const auto of = [&](const RunFiles& run) {
    if (!split.empty()) return evaluation_of(run, split);
    const Evaluation* any = headline(run);
    return any == nullptr ? nullptr : &any->json;
  };
  for (const RunFiles& run : runs) {
    if (of(run) == nullptr) continue;
    for (const std::string& metric : headline_metrics(*of(run))) {
      if (seen.insert(metric).second) metrics.push_back(metric);
    }
  }
  std::vector<std::string> head{"run", defined_as("edge", "edge")};
  for (const std::string& metric : metrics) head.push_back(defined_name(metric));
  head.insert(head.end(), {defined_as("valid_loss", "lowest validation loss"), "epochs", "n rows"});
  std::vector<std::vector<std::string>> rows;
  for (const RunFiles& run : runs) {
    const Json* evaluation = of(run);
    std::vector<std::string> row{escape(run.name), edge_text(evaluation)};
    for (const std::string& metric : metrics) row.push_back(cell(evaluation, metric, 1));
    double best = std::nan("");
    for (const double loss : column(run.metrics.epochs, "valid_loss")) {
      if (std::isfinite(loss) && !(loss >= best)) best = loss;
    }
    row.push_back(std::isfinite(best) ? number_text(best) : not_available("no epoch has one"));
    row.push_back(std::to_string(run.metrics.epochs.size()));
    row.push_back(evaluation == nullptr ? not_available("not evaluated: foxhunt evaluate RUN")
                                        : count_text(number(*evaluation, {"rows"}).or_else(0)));
    rows.push_back(std::move(row));
  }
  return table(head, rows);
}

std::string losses_html(const std::vector<RunFiles>& runs, const char* key, const char* name) {
  Curves curves{.title = defined_as(key, name),
                .caption = "",
                .alt = fmt::format("{} of the runs by epoch", name),
                .x_name = "epoch",
                .series = {},
                .mark = {},
                .text = nullptr};
  std::size_t longest = 0;
  for (const RunFiles& run : runs) longest = std::max(longest, run.metrics.epochs.size());
  for (const RunFiles& run : runs) {
    svg::LineSeries one{run.name, column(run.metrics.epochs, "epoch"),
                        column(run.metrics.epochs, key)};
    // The pointer reads all runs at one place: shorter ones end in gaps.
    while (one.x.size() < longest) {
      one.x.push_back(static_cast<double>(one.x.size() + 1));
      one.y.push_back(std::nan(""));
    }
    curves.series.push_back(std::move(one));
  }
  return curves_html(curves);
}

std::string settings_html(const std::vector<RunFiles>& runs) {
  std::vector<std::string> paths;
  std::set<std::string> seen;
  for (const RunFiles& run : runs) {
    for (const ConfigLine& line : run.config) {
      if (seen.insert(line.path()).second) paths.push_back(line.path());
    }
  }
  std::vector<std::string> head{"key"};
  for (const RunFiles& run : runs) head.push_back(escape(run.name));
  std::vector<std::vector<std::string>> rows;
  for (const std::string& path : paths) {
    std::set<std::string> values;
    std::vector<std::string> row{fmt::format("<code>{}</code>", escape(path))};
    for (const RunFiles& run : runs) {
      const std::string* value = run.setting(path);
      values.insert(value == nullptr ? "" : *value);
      row.push_back(value == nullptr ? not_available("no such key")
                                     : fmt::format("<code>{}</code>", escape(*value)));
    }
    if (values.size() > 1) rows.push_back(std::move(row));
  }
  if (rows.empty()) return "<p class=\"lead\">None: all keys are equal.</p>";
  return table(head, rows);
}

std::string lineage_html(const std::vector<RunFiles>& runs) {
  std::vector<std::vector<std::string>> rows;
  for (const RunFiles& run : runs) {
    const auto code = [](const std::string& s) {
      return s.empty()
                 ? not_available("not recorded")
                 : fmt::format("<code title=\"{}\">{}</code>", escape(s), escape(s.substr(0, 12)));
    };
    rows.push_back({escape(run.name), code(text(run.env, {"git_revision"})),
                    code(text(run.env, {"binary_sha256"})), code(run.config_hash),
                    code(hashes_of(run)), code(text(run.result, {"weights_sha256"})),
                    time_html(text(run.env, {"started"}, "n/a"))});
  }
  return table({"run", "git", "binary", "configuration", "data", "weights", "started"}, rows);
}

}  // namespace

std::string comparison_page(const std::vector<std::filesystem::path>& paths) {
  std::vector<RunFiles> runs;
  for (const std::filesystem::path& path : paths) runs.push_back(read_run(path));
  const std::string split = common_split(runs);
  const Rows rows = split.empty() ? Rows{false,
                                         "<b>The runs have no part in common that all were "
                                         "scored on</b>: <code>foxhunt evaluate RUN</code>."}
                                  : rows_of(runs, split);
  const std::string said =
      rows.same ? fmt::format("<p class=\"lead\">{}</p>", rows.html) : hint(rows.html);
  PageFrame frame{.title = fmt::format("{} runs · foxhunt", runs.size()),
                  .eyebrow = "foxhunt · comparison of runs",
                  .heading = fmt::format("{} runs side by side", runs.size()),
                  .meta = "",
                  .sections = ""};
  for (const RunFiles& run : runs) frame.meta += fmt::format("<span>{}</span>", escape(run.name));
  frame.sections += section("scores", "Scores", "", said + scores_html(runs, split));
  frame.sections += section("losses", "Losses", "",
                            fmt::format("<div class=\"grid\">{}{}</div>",
                                        losses_html(runs, "valid_loss", "Validation loss"),
                                        losses_html(runs, "train_loss", "Training loss")));
  frame.sections += section("settings", "Settings that differ", "", settings_html(runs));
  frame.sections += section("lineage", "Lineage", "", lineage_html(runs));
  frame.sections += glossary_html();
  return page_html(frame);
}

}  // namespace foxhunt::report
