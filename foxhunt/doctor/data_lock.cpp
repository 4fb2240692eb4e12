#include "foxhunt/doctor/data_lock.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::doctor {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const CheckSummary& c) {
  Json findings = Json::object();
  for (const auto& [rule, n] : c.findings) findings[rule] = n;
  return {{"doctor", c.doctor},   {"records", c.records}, {"schema", c.schema},
          {"symbols", c.symbols}, {"errors", c.errors},   {"warnings", c.warnings},
          {"infos", c.infos},     {"findings", findings}};
}

CheckSummary check_of(const Json& json) {
  CheckSummary c{.doctor = json.at("doctor"),
                 .records = json.at("records"),
                 .schema = json.at("schema"),
                 .symbols = json.at("symbols"),
                 .errors = json.at("errors"),
                 .warnings = json.at("warnings"),
                 .infos = json.at("infos")};
  for (const auto& [rule, n] : json.at("findings").items()) c.findings[rule] = n;
  return c;
}

UnixNanos time_of(const std::string& text) { return text == "null" ? kNullTime : parse_time(text); }

const DataFile* find(const std::vector<DataFile>& lock, const std::filesystem::path& path) {
  const auto by_path = std::ranges::find(lock, path, &DataFile::path);
  if (by_path != lock.end()) return &*by_path;
  const auto by_name = std::ranges::find_if(
      lock, [&](const DataFile& file) { return file.path.filename() == path.filename(); });
  return by_name == lock.end() ? nullptr : &*by_name;
}

/// The rules that make a file fail, with their counts.
std::string errors_text(const CheckSummary& checked) {
  std::vector<std::string> names;
  for (const Rule& r : rules()) {
    const auto found = checked.findings.find(std::string(r.name));
    if (r.severity == Severity::kError && found != checked.findings.end())
      names.push_back(fmt::format("{} ({})", r.name, found->second));
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string data_lock_json(const std::vector<DataFile>& files) {
  Json out = Json::array();
  for (const DataFile& file : files) {
    out.push_back({{"path", file.path.string()},
                   {"sha256", file.sha256},
                   {"bytes", file.bytes},
                   {"bars", file.bars},
                   {"first", to_string(file.first)},
                   {"last", to_string(file.last)}});
    if (file.checked) out.back()["checked"] = json_of(*file.checked);
  }
  return out.dump(2) + "\n";
}

std::vector<DataFile> parse_data_lock(const std::string& text) {
  std::vector<DataFile> files;
  try {
    for (const auto& entry : Json::parse(text)) {
      DataFile file{.path = entry.at("path").get<std::string>(),
                    .sha256 = entry.at("sha256"),
                    .bytes = entry.at("bytes"),
                    .bars = entry.at("bars"),
                    .first = time_of(entry.at("first")),
                    .last = time_of(entry.at("last"))};
      if (entry.contains("checked")) file.checked = check_of(entry.at("checked"));
      files.push_back(std::move(file));
    }
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("data.lock: {}", error.what()));
  }
  return files;
}

std::vector<DataFile> lock_of(const std::vector<FileReport>& reports) {
  std::vector<DataFile> files;
  for (const FileReport& r : reports) {
    CheckSummary checked{.doctor = kDoctorVersion,
                         .records = r.records,
                         .schema = r.schema,
                         .symbols = r.symbols,
                         .errors = r.count(Severity::kError),
                         .warnings = r.count(Severity::kWarning),
                         .infos = r.count(Severity::kInfo)};
    for (const Finding& f : r.findings) checked.findings[std::string(f.rule->name)] = f.count;
    files.push_back({.path = std::filesystem::absolute(r.path),
                     .sha256 = r.sha256,
                     .bytes = r.bytes,
                     .bars = r.bars,
                     .first = r.first,
                     .last = r.last,
                     .checked = std::move(checked)});
  }
  return files;
}

std::vector<DataFile> require_locked(std::vector<DataFile> files, const std::vector<DataFile>& lock,
                                     const std::string& name, bool accept_errors) {
  std::vector<std::string> wrong;
  for (DataFile& file : files) {
    const auto add = [&](const std::string& text) {
      wrong.push_back(fmt::format("{}: {}", file.path.string(), text));
    };
    const DataFile* locked = find(lock, file.path);
    if (locked == nullptr) {
      add(fmt::format("not in {}", name));
      continue;
    }
    if (file.sha256 != locked->sha256) {
      add(fmt::format("SHA-256 {} differs from {} in {}", file.sha256, locked->sha256, name));
    } else if (file.bars != locked->bars || file.first != locked->first ||
               file.last != locked->last) {
      add(
          fmt::format("{} bars from {} to {}, but {} says {} from {} to {}: read with other "
                      "settings",
                      file.bars, to_string(file.first), to_string(file.last), name, locked->bars,
                      to_string(locked->first), to_string(locked->last)));
    }
    if (!locked->checked) {
      add(fmt::format("nobody checked it: write {} with foxhunt data check --lock", name));
    } else if (locked->checked->errors > 0 && !accept_errors) {
      add(fmt::format("{} says error: {}; data.accept_errors = true trains all the same", name,
                      errors_text(*locked->checked)));
    }
    file.checked = locked->checked;
  }
  if (!wrong.empty()) throw DataError(fmt::format("[data] {}", fmt::join(wrong, "\n[data] ")));
  return files;
}

}  // namespace foxhunt::doctor
