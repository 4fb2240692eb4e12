// Reports for people, and the table of rules.
#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/doctor/doctor.h"
#include "foxhunt/doctor/text.h"

namespace foxhunt::doctor {
namespace {

std::string place_text(const Place& place) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (place.line > 0) {
    add(fmt::format("line {}", place.line));
  } else if (place.record > 0) {
    add(fmt::format("record {}", place.record));
    if (place.byte > 0) add(fmt::format("byte {}", place.byte));
  }
  if (!is_null(place.time)) add(to_string(place.time));
  if (!place.symbol.empty()) add(place.symbol);
  return text;
}

std::string finding_text(const Finding& f) {
  std::string text = fmt::format("  {:<8}{:<20}{:>12}  {}\n", name_of(f.rule->severity),
                                 f.rule->name, grouped(f.count), f.rule->what);
  const std::string place = place_text(f.first);
  constexpr std::size_t kIndent = 44;
  if (!place.empty()) text += fmt::format("{:{}}first at {}\n", "", kIndent, place);
  text += fmt::format("{:{}}{}\n", "", kIndent, f.example);
  return text + fmt::format("{:{}}training: {}: {}\n", "", kIndent, name_of(f.rule->fate),
                            f.rule->training);
}

std::string days_text(const FileReport& report) {
  if (report.bad_days.empty()) return "";
  constexpr std::ptrdiff_t kShown = 8;
  std::string text = fmt::format("  quarantine: {} days with errors: ", report.bad_days.size());
  std::ptrdiff_t shown = 0;
  for (const auto& [day, n] : report.bad_days) {
    if (shown++ == kShown) return text + " …\n";
    text += fmt::format("{}{} ({})", shown == 1 ? "" : ", ", day_text(day), grouped(n));
  }
  return text + "\n";
}

}  // namespace

std::string to_text(const std::vector<FileReport>& reports) {
  std::string text;
  std::int64_t with_errors = 0;
  for (const FileReport& r : reports) {
    const std::int64_t errors = r.count(Severity::kError);
    with_errors += errors > 0 ? 1 : 0;
    text += fmt::format("{}  {}\n", errors > 0 ? "FAILED" : "passed", r.path.string());
    text += fmt::format("  {} {}, {} records", r.format.empty() ? "?" : r.format, r.schema,
                        grouped(r.records));
    if (!is_null(r.first)) text += fmt::format(", {} to {}", to_string(r.first), to_string(r.last));
    text += fmt::format("; {} errors, {} warnings, {} notes\n", errors, r.count(Severity::kWarning),
                        r.count(Severity::kInfo));
    for (const Finding& finding : r.findings) text += finding_text(finding);
    text += days_text(r) + "\n";
  }
  return text + fmt::format("{} files: {} passed, {} with errors\n", reports.size(),
                            std::ssize(reports) - with_errors, with_errors);
}

std::string rules_markdown() {
  std::string text =
      "| rule | severity | what it is | found from | what training does |\n|---|---|---|---|---|\n";
  for (const Rule& r : rules()) {
    text += fmt::format("| `{}` | {} | {} | {} | {}: {} |\n", r.name, name_of(r.severity), r.what,
                        r.threshold, name_of(r.fate), r.training);
  }
  return text;
}

}  // namespace foxhunt::doctor
