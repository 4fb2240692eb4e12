#pragma once
// What lies in a run folder, read with forgiveness: a run that trains, was cut off or was never
// evaluated lacks pieces, and each one that lacks is said.

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/base/json.h"
#include "foxhunt/report/metrics_log.h"

namespace foxhunt::report {

using Json = nlohmann::ordered_json;

struct Evaluation {
  std::string split{};  ///< "test", "valid", "train"
  Json json{};          ///< an object
};

/// A key of config.resolved.toml, as text.
struct ConfigLine {
  std::string section{};
  std::string key{};
  std::string value{};
  std::string path() const { return section.empty() ? key : section + "." + key; }
};

struct RunFiles {
  std::filesystem::path path{};
  std::string name{};  ///< of the folder
  MetricsLog metrics{};
  std::vector<Evaluation> evaluations{};  ///< test, valid, train: those that there are
  Json env{};                             ///< null where missing, as those below
  Json result{};
  Json data_lock{};
  Json coverage{};
  Json leak_proof{};            ///< leakproof.json
  std::vector<Json> resumes{};  ///< lines of resumes.jsonl
  std::string config_hash{};
  std::vector<ConfigLine> config{};
  std::vector<std::pair<std::string, Json>> others{};  ///< further *.json files by name
  std::vector<std::string> problems{};  ///< files that are there and cannot be read, and why

  /// nullptr when the key is not there.
  const std::string* setting(const std::string& path) const;
  /// Its text without the quotes of a string; "" when the key is not there.
  std::string setting_text(const std::string& path) const;
};

/// Errors  DataError when `run` is no run folder (it has no config.resolved.toml). Whatever else is
/// missing or broken stands in the result.
RunFiles read_run(const std::filesystem::path& run);

/// The lines of a resolved configuration; comments left out.
std::vector<ConfigLine> parse_config(const std::string& text);

}  // namespace foxhunt::report
