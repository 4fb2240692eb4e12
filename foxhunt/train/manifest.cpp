#include "foxhunt/train/manifest.h"

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <optional>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

struct FileFacts {
  std::uintmax_t bytes = 0;
  std::string sha256{};
};
using Facts = std::map<std::string, FileFacts>;

/// The one text that says this: reading accepts nothing but what writing makes.
std::string text_of(const Facts& facts) {
  nlohmann::ordered_json files = nlohmann::ordered_json::object();
  for (const auto& [name, fact] : facts)
    files[name] = {{"bytes", fact.bytes}, {"sha256", fact.sha256}};
  nlohmann::ordered_json out{{"files", files}, {"sha256", sha256_of(files.dump())}};
  return out.dump(1) + "\n";
}

std::optional<Facts> parse(const std::string& text) {
  try {
    Facts facts;
    const auto in = nlohmann::json::parse(text);
    for (const auto& [name, fact] : in.at("files").items())
      facts[name] = {.bytes = fact.at("bytes"), .sha256 = fact.at("sha256")};
    if (facts.empty() || text_of(facts) != text) return std::nullopt;
    return facts;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

std::string damage_of_file(const fs::path& file, const std::string& name, const FileFacts& fact) {
  std::error_code code;
  const std::uintmax_t bytes = fs::file_size(file, code);
  if (code) return fmt::format("{} is missing", name);
  if (bytes != fact.bytes) return fmt::format("{} holds {} bytes of {}", name, bytes, fact.bytes);
  if (sha256_of_file(file) != fact.sha256)
    return fmt::format("{} differs from what was written", name);
  return "";
}

}  // namespace

std::string manifest_of(const fs::path& folder) {
  Facts facts;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != kManifestName)
      facts[name] = {.bytes = entry.file_size(), .sha256 = sha256_of_file(entry.path())};
  }
  return text_of(facts);
}

std::string damage_of(const fs::path& folder) {
  try {
    const fs::path manifest = folder / kManifestName;
    if (!fs::exists(manifest)) return "DONE is missing: the checkpoint was not finished";
    const auto facts = parse(read_file(manifest));
    if (!facts) return "DONE is damaged";
    for (const auto& [name, fact] : *facts) {
      std::string damage = damage_of_file(folder / name, name, fact);
      if (!damage.empty()) return damage;
    }
    return "";
  } catch (const IoError& error) {
    return error.what();
  } catch (const fs::filesystem_error& error) {
    return error.code().message();
  }
}

}  // namespace foxhunt::train
