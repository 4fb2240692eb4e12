#include "foxhunt/train/run_identity.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/config/config.h"
#include "foxhunt/config/describe.h"
#include "foxhunt/config/value_text.h"
#include "foxhunt/kernels/dispatch.h"

namespace foxhunt::train {
namespace {

std::string brief(const std::string& hash) { return hash.substr(0, 12); }

bool same_data(const RunIdentity& a, const RunIdentity& b) {
  return std::ranges::equal(a.data, b.data, {}, &std::pair<std::string, std::string>::second,
                            &std::pair<std::string, std::string>::second);
}

void add_data_changes(const RunIdentity& was, const RunIdentity& now,
                      std::vector<std::string>& lines) {
  if (was.data.size() != now.data.size()) {
    lines.push_back(fmt::format("data: {} files, were {}", now.data.size(), was.data.size()));
    return;
  }
  for (std::size_t i = 0; i < now.data.size(); ++i) {
    const auto& [path, hash] = now.data[i];
    if (hash != was.data[i].second) {
      lines.push_back(fmt::format("data: {} has SHA-256 {}, was {}", path, brief(hash),
                                  brief(was.data[i].second)));
    }
  }
}

}  // namespace

std::string RunIdentity::to_json() const {
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const auto& [path, hash] : data) files.push_back({{"path", path}, {"sha256", hash}});
  const nlohmann::ordered_json out{{"config_sha256", config_sha256},
                                   {"data", files},
                                   {"binary_sha256", binary_sha256},
                                   {"libtorch", libtorch},
                                   {"instruction_set", instruction_set}};
  return out.dump(2) + "\n";
}

RunIdentity RunIdentity::from_json(const std::string& text) {
  try {
    const auto in = nlohmann::json::parse(text);
    RunIdentity identity{.config_sha256 = in.at("config_sha256"),
                         .binary_sha256 = in.at("binary_sha256"),
                         .libtorch = in.at("libtorch"),
                         .instruction_set = in.at("instruction_set")};
    for (const auto& file : in.at("data"))
      identity.data.emplace_back(file.at("path"), file.at("sha256"));
    return identity;
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("identity of a run: {}", error.what()));
  }
}

RunIdentity identity_of(const std::string& config_sha256, const std::vector<DataFile>& data,
                        const std::string& libtorch) {
  static const std::string binary = sha256_of_file("/proc/self/exe");
  RunIdentity identity{.config_sha256 = config_sha256,
                       .binary_sha256 = binary,
                       .libtorch = libtorch,
                       .instruction_set = kernels::default_kernels<float>().name};
  for (const DataFile& file : data) identity.data.emplace_back(file.path.string(), file.sha256);
  return identity;
}

std::vector<std::string> changes(const std::vector<RunIdentity>& known, const RunIdentity& now) {
  std::vector<std::string> lines;
  if (known.empty()) return lines;
  const RunIdentity& was = known.back();
  const auto is_new = [&known, &now](auto same) {
    return std::ranges::none_of(known, [&](const RunIdentity& one) { return same(one, now); });
  };
  const auto compare = [&](const char* name, std::string RunIdentity::*member, bool is_hash) {
    if (!is_new([member](const RunIdentity& a, const RunIdentity& b) {
          return a.*member == b.*member;
        })) {
      return;
    }
    lines.push_back(is_hash ? fmt::format("{}: SHA-256 {}, was {}", name, brief(now.*member),
                                          brief(was.*member))
                            : fmt::format("{}: {}, was {}", name, now.*member, was.*member));
  };
  compare("configuration", &RunIdentity::config_sha256, true);
  if (is_new(same_data)) add_data_changes(was, now, lines);
  compare("binary", &RunIdentity::binary_sha256, true);
  compare("LibTorch", &RunIdentity::libtorch, false);
  compare("instruction set", &RunIdentity::instruction_set, false);
  return lines;
}

std::string resolved_text(const ExperimentConfig& config) {
  return fmt::format("# sha256 {}\n{}", config::hash_of(config),
                     config::dump(config, /*comments=*/true));
}

std::vector<std::string> changed_keys(ExperimentConfig was, ExperimentConfig is) {
  const config::FieldList before = config::fields_of(was);
  const config::FieldList after = config::fields_of(is);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < after.fields.size(); ++i) {
    const std::string from = config::value_text(before.fields[i]);
    const std::string to = config::value_text(after.fields[i]);
    if (from != to)
      lines.push_back(fmt::format("{} is {}, was {}", after.fields[i].path, to, from));
  }
  return lines;
}

}  // namespace foxhunt::train
