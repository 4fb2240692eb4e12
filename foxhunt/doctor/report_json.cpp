// Reports for machines, and as a page.
#include <fmt/format.h>

#include "foxhunt/base/json.h"
#include "foxhunt/doctor/doctor.h"
#include "foxhunt/doctor/text.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/page_frame.h"

namespace foxhunt::doctor {
namespace {

using Json = nlohmann::ordered_json;
using report::escape;

Json json_of(UnixNanos t) { return is_null(t) ? Json() : Json(to_string(t)); }

Json json_of(const Finding& f) {
  const auto number = [](std::int64_t n) { return n > 0 ? Json(n) : Json(); };
  return {{"rule", f.rule->name},
          {"severity", name_of(f.rule->severity)},
          {"count", f.count},
          {"record", number(f.first.record)},
          {"line", number(f.first.line)},
          {"byte", number(f.first.byte)},
          {"time", json_of(f.first.time)},
          {"last_time", json_of(f.last)},
          {"symbol", f.first.symbol.empty() ? Json() : Json(f.first.symbol)},
          {"example", f.example},
          {"more", f.more},
          {"what", f.rule->what},
          {"fate", name_of(f.rule->fate)},
          {"training", f.rule->training}};
}

Json json_of(const FileReport& r) {
  Json findings = Json::array();
  for (const Finding& finding : r.findings) findings.push_back(json_of(finding));
  Json days = Json::array();
  for (const auto& [day, n] : r.bad_days) days.push_back({{"day", day_text(day)}, {"errors", n}});
  return {{"path", r.path.string()},
          {"sha256", r.sha256},
          {"bytes", r.bytes},
          {"format", r.format},
          {"schema", r.schema},
          {"records", r.records},
          {"bars", r.bars},
          {"first", json_of(r.first)},
          {"last", json_of(r.last)},
          {"symbols", r.symbols},
          {"errors", r.count(Severity::kError)},
          {"warnings", r.count(Severity::kWarning)},
          {"infos", r.count(Severity::kInfo)},
          {"findings", std::move(findings)},
          {"quarantine", std::move(days)}};
}

std::string findings_html(const FileReport& r) {
  if (r.findings.empty()) return report::hint("Nothing was found.");
  std::vector<std::vector<std::string>> rows;
  for (const Finding& f : r.findings) {
    std::string place;
    if (f.first.line > 0)
      place = fmt::format("line {}", grouped(f.first.line));
    else if (f.first.record > 0)
      place = fmt::format("record {}", grouped(f.first.record));
    if (!is_null(f.first.time)) place += "<br>" + report::time_html(to_string(f.first.time));
    if (!f.first.symbol.empty()) place += "<br>" + escape(f.first.symbol);
    rows.push_back(
        {fmt::format("<strong>{}</strong> {}", name_of(f.rule->severity), f.rule->name),
         grouped(f.count), std::move(place),
         fmt::format("{}<br><code>{}</code>", escape(std::string(f.rule->what)), escape(f.example)),
         fmt::format("{}: {}", name_of(f.rule->fate), escape(std::string(f.rule->training)))});
  }
  return report::table({"finding", "count", "first", "what and an example", "training"}, rows);
}

std::string days_html(const FileReport& r) {
  if (r.bad_days.empty()) return "";
  std::vector<std::vector<std::string>> rows;
  for (const auto& [day, n] : r.bad_days) rows.push_back({day_text(day), grouped(n)});
  return report::details(fmt::format("{} days to leave out", rows.size()),
                         report::table({"UTC day", "errors"}, rows));
}

}  // namespace

std::string to_json(const std::vector<FileReport>& reports) {
  Json files = Json::array();
  bool passed = true;
  for (const FileReport& r : reports) {
    files.push_back(json_of(r));
    passed = passed && !r.has_errors();
  }
  const Json json{{"doctor", kDoctorVersion}, {"passed", passed}, {"files", std::move(files)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_html(const std::vector<FileReport>& reports) {
  report::PageFrame frame{.title = "Data check · foxhunt",
                          .eyebrow = "foxhunt · data doctor",
                          .heading = "Data check",
                          .meta = "",
                          .sections = ""};
  std::int64_t failed = 0;
  std::size_t number = 0;
  for (const FileReport& r : reports) {
    failed += r.has_errors() ? 1 : 0;
    const std::string range = is_null(r.first)
                                  ? std::string("n/a")
                                  : fmt::format("{} to {}", report::time_html(to_string(r.first)),
                                                report::time_html(to_string(r.last)));
    frame.sections += report::section(
        fmt::format("file-{}", ++number), r.path.filename().string(),
        r.has_errors() ? "Failed: training with a lock refuses this file." : "Passed.",
        report::facts({{"file", "<code>" + escape(r.path.string()) + "</code>"},
                       {"holds", escape(r.format + " " + r.schema)},
                       {"records", grouped(r.records)},
                       {"range", range},
                       {"SHA-256", "<code>" + escape(r.sha256) + "</code>"}},
                      "one") +
            findings_html(r) + days_html(r));
  }
  frame.meta = fmt::format("<span>{} files</span><span>{} passed</span><span>{} with errors</span>",
                           reports.size(), std::ssize(reports) - failed, failed);
  return report::page_html(frame);
}

}  // namespace foxhunt::doctor
