#include "foxhunt/contract/report.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/json.h"

namespace foxhunt::contract {
namespace {

using Json = nlohmann::ordered_json;
using latency::LatencyRow;

/// What latency cannot know stands behind what it knows.
Json json_of(const ContractRow& r, const FormReport& form) {
  Json row = Json::parse(latency::to_json(r.row));
  if (!r.row.p50.claimed()) row["floor_ratio"] = nullptr;
  row["timed"] = to_string(r.timed);
  row["sessions"] = r.sessions;
  row["keep_warm"] = r.keep_warm;
  row["bytes_read"] = form.bytes.read();
  row["bytes_written"] = r.row.bytes_per_step - form.bytes.read();
  row["unanswered"] = r.unanswered;
  row["own_form"] = form.own_form;
  row["verified"] = form.verified;
  row["max_difference"] = form.max_difference;
  return row;
}

Json json_of(const FormReport& form) {
  const StepBytes& b = form.bytes;
  Json out = {{"weights", to_string(form.form)},
              {"kernels", form.kernels},
              {"verified", form.verified},
              {"verify_what", form.verify_what},
              {"bytes",
               {{"projections", b.projections},
                {"ends", b.ends},
                {"vectors", b.vectors},
                {"cores", b.cores},
                {"state", b.state},
                {"window", b.window},
                {"window_row", b.window_row}}}};
  if (const LoadSummary& l = form.loads; l.loads > 0) {
    out["load"] = {{"loads", l.loads},
                   {"load_ms", l.load_ms},
                   {"least_load_ms", l.least_load_ms},
                   {"read_ms", l.median.read_ms},
                   {"pack_ms", l.median.pack_ms},
                   {"session_ms", l.median.session_ms},
                   {"first_us", l.median.first_us},
                   {"steady_us", l.median.steady_us},
                   {"first_ratio", l.first_ratio},
                   {"worst_first_ratio", l.worst_first_ratio}};
  }
  return out;
}

std::string us(const latency::Percentile& p) {
  return p.claimed() ? fmt::format("{:.2f}", p.us) : "n/a";
}
std::string count(const std::optional<std::int64_t>& n) { return n ? fmt::format("{}", *n) : "?"; }

std::string name_of(const ContractRow& r) {
  return fmt::format("{} {} {}{}", to_string(r.timed), r.row.weights, r.row.schedule,
                     r.keep_warm ? " kept warm" : "");
}

constexpr const char* kLine =
    "{:<7}{:<8}{:<17}{:>8}{:>8}{:>8}{:>9}{:>8}{:>7}{:>9}{:>9}{:>6}{:>6}{:>7}\n";

std::string line_of(const ContractRow& r) {
  const LatencyRow& l = r.row;
  return fmt::format(kLine, to_string(r.timed), l.weights, l.schedule, us(l.p10), us(l.p50),
                     us(l.p99), us(l.quiet_p99), fmt::format("{:.2f}", l.floor_us),
                     l.p50.claimed() ? fmt::format("{:.2f}", l.floor_ratio()) : "n/a",
                     l.bytes_per_step, fmt::format("{:.0f}", l.stalls_per_s), count(l.allocations),
                     count(l.syscalls), l.minor_faults + l.major_faults);
}

std::string form_text(const FormReport& f) {
  const StepBytes& b = f.bytes;
  std::string text = fmt::format(
      "{} ({}): {} bytes a step: {} projections, {} input and head, {} convolution and heads, {} "
      "biases and scales, {} state read and again written, {} window\n",
      to_string(f.form), f.kernels, b.total(), b.projections, b.ends, b.cores, b.vectors, b.state,
      b.window + b.window_row);
  text += f.verified ? fmt::format("  golden rows: largest difference {:.2g}\n", f.max_difference)
                     : fmt::format("  golden rows: {}\n", f.verify_what);
  if (f.loads.loads > 0) {
    const LoadSummary& l = f.loads;
    text += fmt::format(
        "  load {:.1f} ms (least {:.1f}; read {:.1f}, pack {:.1f}, session {:.1f}), first step "
        "{:.2f} us, {:.1f} "
        "times the steady {:.2f} us (worst {:.1f}); medians of {} loads\n",
        l.load_ms, l.least_load_ms, l.median.read_ms, l.median.pack_ms, l.median.session_ms,
        l.median.first_us, l.first_ratio, l.median.steady_us, l.worst_first_ratio, l.loads);
  }
  return text;
}

}  // namespace

std::vector<std::string> ContractRow::broken() const {
  std::vector<std::string> all;
  const auto zero = [&all](std::int64_t n, const char* what) {
    if (n != 0) all.push_back(fmt::format("{} {}, must be 0", n, what));
  };
  zero(row.allocations.value_or(0), "allocations in the timed loop");
  zero(row.syscalls.value_or(0), "system calls");
  zero(row.minor_faults + row.major_faults, "page faults in the timed loop");
  zero(unanswered, "timed calls without an answer");
  return all;
}

std::vector<std::string> Report::broken() const {
  std::vector<std::string> all;
  for (const FormReport& form : forms) {
    for (const ContractRow& row : form.rows) {
      for (const std::string& what : row.broken())
        all.push_back(fmt::format("{} ({}): {}", name_of(row), form.kernels, what));
    }
  }
  return all;
}

std::string to_json(const Report& report, int indent) {
  Json out = {{"model", report.model},
              {"id", report.id},
              {"model_id", report.model_id},
              {"cpu", report.cpu},
              {"measured_at", report.measured_at},
              {"revision", report.revision},
              {"load_before", report.load_before},
              {"load_after", report.load_after},
              {"grants", report.grants},
              {"ok", report.kept()},
              {"broken", report.broken()},
              {"forms", Json::array()},
              {"refused", Json::array()},
              {"rows", Json::array()}};
  for (const FormReport& form : report.forms) {
    out["forms"].push_back(json_of(form));
    for (const ContractRow& row : form.rows) out["rows"].push_back(json_of(row, form));
  }
  for (const Refusal& r : report.refused)
    out["refused"].push_back({{"weights", r.weights}, {"kernels", r.kernels}, {"why", r.why}});
  // A CPU's name is not ours and need not be UTF-8.
  return out.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string to_text(const Report& report) {
  std::string text = fmt::format("{}; {}; load average {:.1f} before, {:.1f} after; times in us\n",
                                 report.model, report.cpu, report.load_before, report.load_after);
  for (const std::string& grant : report.grants) text += grant + '\n';
  text += '\n' + fmt::format(kLine, "timed", "weights", "schedule", "p10", "p50", "p99", "quiet99",
                             "floor", "ratio", "bytes", "stalls/s", "alloc", "sys", "faults");
  for (const FormReport& form : report.forms) {
    for (const ContractRow& row : form.rows) text += line_of(row);
  }
  text += '\n';
  for (const FormReport& form : report.forms) {
    text += form_text(form);
    for (const ContractRow& r : form.rows) {
      for (const latency::Percentile* p : {&r.row.p50, &r.row.p99}) {
        if (p->claimed()) continue;
        text += fmt::format("  {}: n/a: {}\n", name_of(r), p->why_not);
        break;  // what takes p50 takes p99
      }
      for (const std::string& note : r.row.notes)
        text += fmt::format("  {}: {}\n", name_of(r), note);
    }
    if (!form.rows.empty() && !form.rows.front().row.syscalls_text.empty())
      text += "  " + form.rows.front().row.syscalls_text + '\n';
  }
  for (const Refusal& r : report.refused)
    text += fmt::format("{} {}: refused: {}\n", r.weights, r.kernels, r.why);
  for (const std::string& what : report.broken()) text += "BROKEN " + what + '\n';
  return text;
}

}  // namespace foxhunt::contract
