#include "foxhunt/report/run_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::report {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLargestOther = 256 * 1024;  ///< of a file shown as it is

std::string trimmed(std::string text) {
  text.erase(0, text.find_first_not_of(" \t\r"));
  text.erase(text.find_last_not_of(" \t\r") + 1);
  return text;
}

/// The text up to a comment that is not inside quotes.
std::string without_comment(const std::string& line) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\' && quoted)
      ++i;
    else if (line[i] == '"')
      quoted = !quoted;
    else if (line[i] == '#' && !quoted)
      return line.substr(0, i);
  }
  return line;
}

class Reader {
 public:
  explicit Reader(RunFiles& files) : files_(files) {}

  /// Null where the file is missing or bad; the latter is noted.
  Json json(const std::string& name) {
    std::string text;
    if (!read(name, text)) return {};
    const std::string problem = json_problem(text);
    if (problem.empty()) return Json::parse(text);
    files_.problems.push_back(fmt::format("{} {}", name, problem));
    return {};
  }

  bool read(const std::string& name, std::string& text) {
    if (!fs::exists(files_.path / name)) return false;
    try {
      text = read_file(files_.path / name);
      return true;
    } catch (const Error& error) {
      files_.problems.push_back(error.what());
      return false;
    }
  }

  std::vector<Json> lines(const std::string& name) {
    std::vector<Json> found;
    std::string text;
    if (!read(name, text)) return found;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      const std::string line = text.substr(begin, end - begin);
      if (!line.empty() && json_problem(line).empty()) found.push_back(Json::parse(line));
      begin = end + 1;
    }
    return found;
  }

 private:
  RunFiles& files_;
};

void require_object(RunFiles& files, const char* name, Json& json) {
  if (json.is_null() || json.is_object()) return;
  files.problems.push_back(fmt::format("{} holds no JSON object", name));
  json = {};
}

void read_others(RunFiles& files, Reader& reader) {
  static const std::set<std::string> kKnown{"env.json",
                                            "result.json",
                                            "coverage.json",
                                            "leakproof.json",
                                            "evaluation-test.json",
                                            "evaluation-valid.json",
                                            "evaluation-train.json"};
  std::set<std::string> names;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(files.path, code)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() != ".json" || kKnown.contains(name)) continue;
    if (!entry.is_regular_file(code) || entry.file_size(code) > kLargestOther) continue;
    names.insert(name);
  }
  for (const std::string& name : names) {
    Json json = reader.json(name);
    if (!json.is_null()) files.others.emplace_back(name, std::move(json));
  }
}

}  // namespace

const std::string* RunFiles::setting(const std::string& wanted) const {
  const auto at = std::find_if(config.begin(), config.end(),
                               [&](const ConfigLine& line) { return line.path() == wanted; });
  return at == config.end() ? nullptr : &at->value;
}

std::string RunFiles::setting_text(const std::string& wanted) const {
  const std::string* value = setting(wanted);
  if (value == nullptr) return {};
  const bool quoted = value->size() >= 2 && value->front() == '"' && value->back() == '"';
  return quoted ? value->substr(1, value->size() - 2) : *value;
}

std::vector<ConfigLine> parse_config(const std::string& text) {
  std::vector<ConfigLine> lines;
  std::string section;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = trimmed(without_comment(text.substr(begin, end - begin)));
    begin = end + 1;
    if (line.empty()) continue;
    if (line.front() == '[' && line.back() == ']') {
      section = line.substr(1, line.size() - 2);
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos) continue;
    lines.push_back({section, trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1))});
  }
  return lines;
}

RunFiles read_run(const fs::path& run) {
  if (!fs::exists(run / "config.resolved.toml")) {
    throw DataError(
        fmt::format("{}: is no run folder (it has no config.resolved.toml)", run.string()));
  }
  RunFiles files;
  files.path = run;
  files.name = fs::weakly_canonical(run).filename().string();
  Reader reader(files);
  std::string text;
  if (reader.read("config.resolved.toml", text)) {
    constexpr std::string_view kHash = "# sha256 ";
    if (text.starts_with(kHash)) files.config_hash = text.substr(kHash.size(), 64);
    files.config = parse_config(text);
  }
  if (reader.read("metrics.jsonl", text)) files.metrics = parse_metrics(text);
  for (const char* split : {"test", "valid", "train"}) {
    const std::string name = fmt::format("evaluation-{}.json", split);
    Json json = reader.json(name);
    require_object(files, name.c_str(), json);
    if (json.is_object()) files.evaluations.push_back({split, std::move(json)});
  }
  files.env = reader.json("env.json");
  files.result = reader.json("result.json");
  files.coverage = reader.json("coverage.json");
  require_object(files, "env.json", files.env);
  require_object(files, "result.json", files.result);
  require_object(files, "coverage.json", files.coverage);
  files.leak_proof = reader.json("leakproof.json");
  require_object(files, "leakproof.json", files.leak_proof);
  files.data_lock = reader.json("data.lock");
  files.resumes = reader.lines("resumes.jsonl");
  read_others(files, reader);
  return files;
}

}  // namespace foxhunt::report
