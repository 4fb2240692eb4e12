#include <cstdlib>

#include "foxhunt/base/error.h"
#include "foxhunt/ledger/ledger.h"

namespace foxhunt::ledger {
namespace fs = std::filesystem;

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

fs::path find_ledger(const std::string& named) {
  const std::string wanted = named.empty() ? environment("FOXHUNT_LEDGER") : named;
  if (wanted == "none") return {};
  if (!wanted.empty()) return fs::absolute(wanted);
  for (fs::path folder = fs::current_path();; folder = folder.parent_path()) {
    if (fs::is_directory(folder / ".foxhunt")) return folder / ".foxhunt" / "ledger.db";
    if (folder == folder.parent_path()) break;
  }
  const std::string data = environment("XDG_DATA_HOME");
  if (data.starts_with('/')) return fs::path(data) / "foxhunt" / "ledger.db";  // as the rule says
  const std::string home = environment("HOME");
  if (home.empty())
    throw ConfigError("[ledger] neither HOME nor XDG_DATA_HOME is set; name a file with --ledger");
  return fs::path(home) / ".local" / "share" / "foxhunt" / "ledger.db";
}

}  // namespace foxhunt::ledger
