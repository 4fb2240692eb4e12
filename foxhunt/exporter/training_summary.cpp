#include "foxhunt/exporter/training_summary.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"

namespace foxhunt::exporter {
namespace {

using Json = nlohmann::ordered_json;

Json read_json(const std::filesystem::path& path) {
  try {
    return Json::parse(read_file(path));
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("{}: {}", path.string(), error.what()));
  }
}

/// Of `from` the entries that are there.
Json some_of(const Json& from, std::initializer_list<const char*> keys) {
  Json to = Json::object();
  for (const char* key : keys) {
    if (from.contains(key)) to[key] = from[key];
  }
  return to;
}

}  // namespace

std::string training_summary(const train::RunDir& run, const std::filesystem::path& checkpoint,
                             const std::string& weights_sha256,
                             const std::vector<train::DataFile>& files) {
  Json summary;
  summary["weights_sha256"] = weights_sha256;
  summary["state"] =
      some_of(read_json(checkpoint / "state.json"),
              {"epoch", "step", "best_epoch", "best_valid_loss", "skipped_steps", "seed"});
  summary["environment"] = some_of(read_json(run.file("env.json")),
                                   {"version", "git_revision", "libtorch", "cpu", "device"});
  // Names, not paths: where the files lay on the machine that trained is nobody's business.
  for (const train::DataFile& file : files) {
    summary["data"].push_back({{"file", file.path.filename().string()},
                               {"sha256", file.sha256},
                               {"bytes", file.bytes},
                               {"bars", file.bars},
                               {"first", to_string(file.first)},
                               {"last", to_string(file.last)}});
  }
  const std::filesystem::path evaluation = run.file("evaluation-test.json");
  if (std::filesystem::exists(evaluation)) {
    summary["test"] =
        some_of(read_json(evaluation), {"rows", "sessions", "first", "last", "verdict", "metrics"});
  }
  return summary.dump();
}

}  // namespace foxhunt::exporter
