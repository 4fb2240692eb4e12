// Where a run comes from: settings, binary, data, resumes; and what else lies in its folder.
#include <fmt/format.h>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

std::string code(const std::string& text) {
  return text.empty() ? not_available("not recorded")
                      : fmt::format("<code>{}</code>", escape(text));
}

std::string plain(const Json& json, const char* key) {
  const Json* at = find(json, {key});
  if (at == nullptr || at->is_null()) return not_available("not recorded");
  if (at->is_string()) return escape(at->get<std::string>());
  if (at->is_array() || at->is_object()) return code(at->dump());
  return escape(at->dump());
}

std::string command_of(const Json& env) {
  const Json* words = find(env, {"command_line"});
  if (words == nullptr || !words->is_array()) return {};
  std::string line;
  for (const Json& word : *words) {
    if (word.is_string()) line += (line.empty() ? "" : " ") + word.get<std::string>();
  }
  return line;
}

std::string data_hashes(const Json& lock) {
  std::string html;
  if (!lock.is_array()) return not_available("no data.lock");
  for (const Json& file : lock) html += code(text(file, {"sha256"})) + " ";
  return html;
}

std::string resumes_html(const RunFiles& run) {
  if (run.resumes.empty()) return "none";
  std::string html = fmt::format("{} times", run.resumes.size());
  return html;
}

/// A line a resume, its fields as they stand.
std::string resumes_table(const RunFiles& run) {
  if (run.resumes.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < run.resumes.size(); ++i) {
    std::string fields;
    if (run.resumes[i].is_object()) {
      for (const auto& [key, value] : run.resumes[i].items())
        fields += fmt::format("{} {}; ", escape(key),
                              escape(value.is_string() ? value.get<std::string>() : value.dump()));
    }
    rows.push_back({std::to_string(i + 1), fields});
  }
  return "<h3>Resumes</h3>" + table({"", "recorded"}, rows, "words");
}

}  // namespace

std::string config_section(const RunFiles& run) {
  if (run.config.empty()) return {};
  std::string body;
  std::string section_name = run.config.front().section;
  std::vector<std::pair<std::string, std::string>> lines;
  const auto flush = [&] {
    if (!section_name.empty()) body += fmt::format("<h3>[{}]</h3>", escape(section_name));
    body += facts(lines);
    lines.clear();
  };
  for (const ConfigLine& line : run.config) {
    if (line.section != section_name) {
      flush();
      section_name = line.section;
    }
    lines.emplace_back(escape(line.key), fmt::format("<code>{}</code>", escape(line.value)));
  }
  flush();
  return section("configuration", "Configuration",
                 "Resolved: every key, defaults included. What each one means: "
                 "<code>foxhunt config keys</code>.",
                 details(fmt::format("All {} keys", run.config.size()),
                         fmt::format("<div class=\"in\">{}</div>", body)));
}

std::string lineage_section(const RunFiles& run) {
  const Json& env = run.env;
  std::string weights = text(run.result, {"weights_sha256"});
  std::string why =
      weights.empty() ? not_available("known when the training has ended") : code(weights);
  std::vector<std::pair<std::string, std::string>> lines{
      {"git revision", code(text(env, {"git_revision"}))},
      {"binary " + defined_as("sha256", "SHA-256"), code(text(env, {"binary_sha256"}))},
      {"configuration SHA-256", code(run.config_hash)},
      {"data SHA-256", data_hashes(run.data_lock)},
      {"weights SHA-256", why},
      {"started", time_html(text(env, {"started"}, "n/a"))},
      {"resumed", resumes_html(run)},
      {"device", plain(env, "device")},
      {"CPU", plain(env, "cpu")},
      {"threads", plain(env, "threads")},
      {"seed", plain(env, "seed")},
      {"version", plain(env, "version")},
      {"compiler", plain(env, "compiler")},
      {"build", plain(env, "build_type")},
      {"LibTorch", plain(env, "libtorch")}};
  std::string body = facts(lines, "one");
  const std::string command = command_of(env);
  if (!command.empty()) body += fmt::format("<h3>Command</h3><pre>{}</pre>", escape(command));
  return section("lineage", "Lineage", "With these, whoever has the data can repeat the run.",
                 body + resumes_table(run));
}

std::string other_files_section(const RunFiles& run) {
  if (run.others.empty()) return {};
  std::string body;
  for (const auto& [name, json] : run.others) {
    body += details(escape(name),
                    fmt::format("<pre>{}</pre>",
                                escape(json.dump(2, ' ', false, Json::error_handler_t::replace))));
  }
  return section("files", "Further results in the run folder", "As they were written.", body);
}

}  // namespace foxhunt::report
