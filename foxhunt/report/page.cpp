#include "foxhunt/report/page.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/report/glossary.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/page_frame.h"
#include "foxhunt/report/run_files.h"
#include "foxhunt/report/sections.h"
#include "foxhunt/report/tensorboard.h"

namespace foxhunt::report {
namespace {

namespace fs = std::filesystem;

std::string meta_of(const RunFiles& run) {
  std::string html;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) html += fmt::format("<span>{}</span>", escape(text));
  };
  add(run.setting_text("name"));
  add(run.setting_text("data.product"));
  const std::string started = text(run.env, {"started"});
  if (started.size() >= 16)
    add(fmt::format("started {} {} UTC", started.substr(0, 10), started.substr(11, 5)));
  add(run.metrics.epochs.empty() ? "no epoch yet"
                                 : fmt::format("{} epochs", run.metrics.epochs.size()));
  const Reading parameters = number(run.result, {"parameters"});
  if (parameters) add(fmt::format("{:.0f} parameters", *parameters));
  add(proof_word(run));
  add("on " + text(run.env, {"device"}, "an unrecorded device"));
  return html;
}

/// Does `work`; a failure is a warning.
template <class Work>
bool attempt(const fs::path& run, const char* what, Work work) {
  try {
    work();
    return true;
  } catch (const std::exception& error) {
    log::warn("{}: {} could not be written: {}; `foxhunt report` writes it again", run.string(),
              what, error.what());
    return false;
  }
}

}  // namespace

std::string run_page(const fs::path& path) {
  const RunFiles run = read_run(path);
  PageFrame frame{.title = run.name + " · foxhunt",
                  .eyebrow = "foxhunt · report of a run",
                  .heading = run.name,
                  .meta = meta_of(run),
                  .sections = ""};
  for (const auto section : {verdict_section, baselines_section, classes_section, groups_section,
                             training_section, health_section, memory_section, data_section,
                             proofs_section, config_section, lineage_section, other_files_section})
    frame.sections += section(run);
  frame.sections += glossary_html();
  return page_html(frame);
}

std::optional<fs::path> write_page(const fs::path& run) {
  write_events(run);
  const fs::path page = run / "report.html";
  const bool written = attempt(run, "report.html", [&] { write_file_atomic(page, run_page(run)); });
  return written ? std::optional(page) : std::nullopt;
}

void write_events(const fs::path& run) {
  attempt(run, "tb/", [&] { update_events(run); });
}

std::string headline_json(const fs::path& path) {
  const RunFiles run = read_run(path);
  nlohmann::ordered_json out{{"run", path.string()}, {"epochs", run.metrics.epochs.size()}};
  const Evaluation* evaluation = headline(run);
  out["split"] = evaluation == nullptr ? nullptr : nlohmann::ordered_json(evaluation->split);
  if (evaluation == nullptr) {
    out["reason"] = "not evaluated yet";
    return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  }
  out["edge"] = text(evaluation->json, {"verdict", "edge"}, "unknown");
  out["rows"] = number(evaluation->json, {"rows"}).or_else(0);
  for (const std::string& metric : headline_metrics(evaluation->json))
    out["metrics"][metric] = *find(evaluation->json, {"metrics", metric});
  return out.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace foxhunt::report
