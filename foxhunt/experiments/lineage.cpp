#include "foxhunt/experiments/lineage.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/bundle/bundle.h"
#include "foxhunt/config/config.h"
#include "foxhunt/train/experiment.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/train_report.h"

namespace foxhunt::experiments {
namespace fs = std::filesystem;

namespace {

nlohmann::json read_json(const std::string& text, const std::string& name) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("{}: {}", name, error.what()));
  }
}

std::string text_of(const nlohmann::json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string()
             ? json[key].get<std::string>()
             : "";
}

/// A folder's or file's own name, with what a name may not hold as '-'.
std::string name_from(const std::string& text) {
  std::string name = text.substr(0, 100);
  std::ranges::replace_if(
      name,
      [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_';
      },
      '-');
  return name.empty() ? "model" : name;
}

fs::path absolute_of(const fs::path& path) {
  fs::path whole = fs::absolute(path).lexically_normal();
  return whole.has_filename() ? whole : whole.parent_path();
}

}  // namespace

ledger::Model model_of_run(const fs::path& run, const std::string& name) {
  const train::RunDir dir = train::RunDir::open(run);
  train::ExperimentConfig config;
  train::load_experiment(config, {dir.file("config.resolved.toml").string()}, {});
  const fs::path link = fs::exists(dir.file("best")) ? dir.file("best") : dir.file("last");
  if (!fs::exists(link / "state.json")) {
    throw DataError(fmt::format("{}: holds no finished checkpoint yet", run.string()));
  }
  const auto state = read_json(read_file(link / "state.json"), (link / "state.json").string());
  const auto environment =
      read_json(read_file(dir.file("env.json")), dir.file("env.json").string());
  const fs::path path = absolute_of(run);
  const std::optional<train::TrainReport> result = train::read_result(run);
  const std::string weights = result ? result->weights_sha256 : text_of(state, "weights_sha256");
  return {.name = name.empty() ? name_from(path.filename().string()) : name,
          .kind = "run",
          .path = path,
          .id = weights,
          .weights_sha256 = weights,
          .config_sha256 = config::hash_of(config),
          .data_sha256 = sha256_of_file(dir.file("data.lock")),
          .run = path.string(),
          .git_revision = text_of(environment, "git_revision")};
}

ledger::Model model_of_bundle(const fs::path& file, const fs::path& run, const std::string& name) {
  const bundle::Bundle bundle = bundle::read_bundle(file);
  const auto training = read_json(bundle.training_json, file.string());
  ledger::Model model{.name = name.empty() ? name_from(file.stem().string()) : name,
                      .kind = "bundle",
                      .path = absolute_of(file),
                      .id = bundle.id,
                      .file_sha256 = sha256_of_file(file),
                      .weights_sha256 = text_of(training, "weights_sha256"),
                      .config_sha256 = bundle.context.config_sha256,
                      .git_revision = bundle.git_revision,
                      .certificate = bundle.certificate.to_json()};
  if (!run.empty()) {
    model.run = absolute_of(run).string();
    model.data_sha256 = sha256_of_file(run / "data.lock");
  }
  return model;
}

void register_quietly(const fs::path& path, const fs::path& run_or_bundle, const fs::path& run) {
  if (path.empty()) return;
  try {
    ledger::Ledger book = ledger::Ledger::open_to_write(path);
    ledger::register_model(book, fs::is_directory(run_or_bundle)
                                     ? model_of_run(run_or_bundle)
                                     : model_of_bundle(run_or_bundle, run));
  } catch (const Error& error) {
    log::warn("not registered: {}; later: foxhunt models register {}", error.what(),
              run_or_bundle.string());
  }
}

}  // namespace foxhunt::experiments
