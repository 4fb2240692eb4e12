// The door's resume(): picks the checkpoint, refuses what has changed, and trains on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/time.h"
#include "foxhunt/config/config.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/resume_log.h"
#include "foxhunt/train/run_identity.h"
#include "foxhunt/train/train_report.h"
#include "foxhunt/train/training_run.h"

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

std::vector<DataFile> locked_data(const RunDir& run) {
  const fs::path file = run.file("data.lock");
  return fs::exists(file) ? parse_data_lock(read_file(file)) : std::vector<DataFile>{};
}

/// The files to read now, with their hashes of now. Errors  DataError naming one that is gone.
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

ExperimentConfig load_config(const fs::path& file) {
  ExperimentConfig config;
  load_experiment(config, {file.string()}, {});
  return config;
}

/// Everything that differs from what the checkpoint (without one: the run) was made with.
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

[[noreturn]] void refuse(const RunDir& run, const std::vector<std::string>& found) {
  throw DataError(fmt::format(
      "{}: not what the run was begun with, so it would not end as it would have:\n  {}\nPut it "
      "back, or add --accept-changes: the change is then recorded in resumes.jsonl",
      run.path().string(), fmt::join(found, "\n  ")));
}

/// The newest checkpoint's place after the folder was put in order.
std::optional<fs::path> repair(CheckpointStore& store, const CheckpointStore::Newest& newest) {
  const std::int64_t best = newest.entry ? read_state(newest.entry->path).best_epoch : 0;
  return store.repair(newest, [best](const fs::path& folder) {
    try {
      const TrainingState state = read_state(folder);
      return state.is_best && state.best_epoch == best;
    } catch (const Error&) {  // an older one, damaged
      return false;
    }
  });
}

/// What rank 0 tells the others: with what to go on, or that there is nothing to do.
std::string message(const TrainingRun* what) {
  if (what == nullptr) return "{}";
  return nlohmann::json{
      {"checkpoint", what->checkpoint ? fs::absolute(*what->checkpoint).string() : ""},
      {"data", what->data},
      {"device", what->device.text()}}
      .dump();
}

/// Another rank than 0: what is written is rank 0's concern.
TrainReport follow(const fs::path& path, const ResumeOptions& options, const Together& together) {
  RunDir run = together.open({});
  const auto told = nlohmann::json::parse(together.from_first(""));
  if (told.empty()) return read_result(path).value();
  TrainingRun what{.config = load_config(path / "config.resolved.toml"),
                   .pause_after_epoch = options.pause_after_epoch};
  what.threads =
      together.threads(options.threads > 0 ? options.threads : what.config.hyper.train.threads);
  what.data = told.at("data");
  if (const std::string checkpoint = told.at("checkpoint"); !checkpoint.empty())
    what.checkpoint = checkpoint;
  const std::string device =
      options.device.empty() ? told.at("device").get<std::string>() : options.device;
  what.device = nn::parse_device(together.device(device.substr(0, device.find(':'))));
  prepare_process(what.config, what.device, what.threads);
  together.require_alike(config::hash_of(what.config));
  return run_training(run, together, what);
}

TrainReport lead(const fs::path& path, const ResumeOptions& options, const Together& together) {
  if (const auto result = read_result(path)) {
    log::info("{}: the run has ended already ({})", path.string(), result->stopped);
    together.open([&] { return RunDir::open(path); });
    together.from_first(message(nullptr));
    return *result;
  }
  RunDir run = together.open([&] { return RunDir::reopen(path); });
  if (const auto result = read_result(path)) {  // whoever had the lock ended it
    together.from_first(message(nullptr));
    return *result;
  }
  if (fs::exists(run.file("pruned.json"))) {
    throw DataError(
        fmt::format("{}: was cut out of another run and not trained (pruned.json): there "
                    "is nothing to resume",
                    path.string()));
  }
  TrainingRun what{.config = load_config(run.file("config.resolved.toml")),
                   .progress = options.progress,
                   .pause_after_epoch = options.pause_after_epoch};
  what.threads =
      together.threads(options.threads > 0 ? options.threads : what.config.hyper.train.threads);
  what.device = nn::parse_device(together.device(
      options.device.empty() ? environment_of(run).value("device", "cpu") : options.device));
  prepare_process(what.config, what.device, what.threads);
  const log::FileSink log_file(run.file("log.txt"));

  CheckpointStore store(run.path(), what.config.hyper.train.keep_checkpoints);
  const CheckpointStore::Newest newest = store.newest();
  for (const auto& skipped : newest.skipped)
    log::warn("{}: {}; skipped", skipped.path.string(), skipped.damage);
  if (newest.entry) what.checkpoint = newest.entry->path;

  const std::vector<DataFile> locked = locked_data(run);
  const std::vector<DataFile> present = present_data(locked, options.data);
  for (const DataFile& file : present) what.data.push_back(file.path.string());
  const RunIdentity now = identity_of(config::hash_of(what.config), present, nn::torch_version());
  const std::vector<std::string> found =
      find_changes(run, what.checkpoint, what.config, locked, now);
  if (!found.empty() && !options.accept_changes) refuse(run, found);
  for (const std::string& line : found) log::warn("accepted: {}", line);

  what.checkpoint = repair(store, newest);
  const std::int64_t step = newest.entry ? newest.entry->step : 0;
  if (!found.empty()) {
    write_file_atomic(run.file("config.resolved.toml"),
                      fmt::format("# sha256 {}\n{}", now.config_sha256,
                                  config::dump(what.config, /*comments=*/true)));
  }
  append_resume(run.path(), {.identity = now,
                             .step = step,
                             .skipped = newest.skipped,
                             .accepted = found,
                             .device = what.device.text(),
                             .command_line = options.command_line});
  log::info("resumed {} at step {}", run.path().string(), step);
  if (!what.checkpoint) run.cut_metrics(0);
  together.from_first(message(&what));
  together.require_alike(config::hash_of(what.config));
  return run_training(run, together, what);
}

}  // namespace

TrainReport resume(const fs::path& path, const ResumeOptions& options) {
  Together together;
  if (together.alone()) return lead(path, options, together);
  RunDir::open(path);  // a rank that does not see the folder says so itself
  together.meet(load_config(path / "config.resolved.toml").hyper.train.rank_timeout);
  return together.all([&] {
    return together.leads() ? lead(path, options, together) : follow(path, options, together);
  });
}

}  // namespace foxhunt::train
