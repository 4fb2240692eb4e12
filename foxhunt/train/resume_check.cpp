#include "foxhunt/train/resume_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/train/resume_log.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

nlohmann::json environment_of(const RunDir& run) {
  const fs::path file = run.file("env.json");
  try {
    return nlohmann::json::parse(read_file(file));
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

/// "# sha256 HEX" on top of config.resolved.toml; "" when it is not there.
std::string header_hash(const std::string& text) {
  constexpr std::string_view kHeader = "# sha256 ";
  if (!text.starts_with(kHeader)) return "";
  return text.substr(kHeader.size(), text.find('\n') - kHeader.size());
}

/// What the run was begun with, by what its folder says.
RunIdentity identity_at_start(const RunDir& run, const std::vector<DataFile>& locked) {
  const auto env = environment_of(run);
  RunIdentity identity{.config_sha256 = header_hash(read_file(run.file("config.resolved.toml"))),
                       .binary_sha256 = env.value("binary_sha256", ""),
                       .libtorch = env.value("libtorch", ""),
                       .instruction_set = env.value("instruction_set", "")};
  for (const DataFile& file : locked) identity.data.emplace_back(file.path.string(), file.sha256);
  return identity;
}

}  // namespace

ExperimentConfig load_config(const fs::path& file) {
  ExperimentConfig config;
  load_experiment(config, {file.string()}, {});
  return config;
}

std::string device_of(const RunDir& run) { return environment_of(run).value("device", "cpu"); }

std::vector<DataFile> locked_data(const RunDir& run) {
  const fs::path file = run.file("data.lock");
  return fs::exists(file) ? parse_data_lock(read_file(file)) : std::vector<DataFile>{};
}

std::vector<DataFile> present_data(const std::vector<DataFile>& locked,
                                   const std::vector<std::string>& named) {
  std::vector<DataFile> files = locked;
  if (!named.empty()) {
    files.clear();
    for (const std::string& path : named) files.push_back({.path = fs::absolute(path)});
  }
  for (DataFile& file : files) {
    if (!fs::exists(file.path)) {
      throw DataError(fmt::format(
          "{}: the run was trained on this file, and it is gone; name its new place with --data",
          file.path.string()));
    }
    file.sha256 = sha256_of_file(file.path);
  }
  return files;
}

std::vector<std::string> find_changes(const RunDir& run, const std::optional<fs::path>& checkpoint,
                                      const ExperimentConfig& config,
                                      const std::vector<DataFile>& locked, const RunIdentity& now) {
  std::vector<RunIdentity> known;
  if (const auto accepted = last_accepted(run.path())) known.push_back(*accepted);
  known.push_back(checkpoint ? RunIdentity::from_json(read_file(*checkpoint / "identity.json"))
                             : identity_at_start(run, locked));
  RunIdentity compared = now;
  if (locked.empty()) compared.data = known.back().data;  // killed before it had read any data
  std::vector<std::string> found = changes(known, compared);
  const std::string header = header_hash(read_file(run.file("config.resolved.toml")));
  const bool config_named = !found.empty() && found.front().starts_with("configuration");
  if (!config_named && header != now.config_sha256) {
    found.insert(found.begin(),
                 "configuration: config.resolved.toml no longer has the hash of its first line");
  } else if (config_named && checkpoint) {
    const auto keys = changed_keys(load_config(*checkpoint / "config.resolved.toml"), config);
    found.front() = fmt::format("configuration: {}", fmt::join(keys, "; "));
  }
  return found;
}

}  // namespace foxhunt::train
