// The door's resume(): picks the checkpoint, refuses what has changed, and trains on.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/config/config.h"
#include "foxhunt/train/checkpoint.h"
#include "foxhunt/train/checkpoint_store.h"
#include "foxhunt/train/resume_check.h"
#include "foxhunt/train/resume_log.h"
#include "foxhunt/train/train_report.h"
#include "foxhunt/train/training_run.h"

namespace foxhunt::train {
namespace {

namespace fs = std::filesystem;

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

/// LibTorch's operations share out their sums by the number of threads: with them it stays.
std::int64_t threads_of(const ResumeOptions& options, const TrainingRun& what) {
  const TrainConfig& train = what.config.hyper.train;
  if (options.threads > 0) return options.threads;
  if (train.threads > 0 || train.kernels == nn::Kernels::kNative || !what.checkpoint)
    return train.threads;
  return read_state(*what.checkpoint).threads;
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
                   .pause_after_epoch = options.pause_after_epoch,
                   .memory_budget = options.memory_budget};
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
  return PreparedRun(together, what).train_into(run);
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
                   .pause_after_epoch = options.pause_after_epoch,
                   .memory_budget = options.memory_budget};
  what.device =
      nn::parse_device(together.device(options.device.empty() ? device_of(run) : options.device));
  const log::FileSink log_file(run.file("log.txt"));

  CheckpointStore store(run.path(), what.config.hyper.train.keep_checkpoints);
  const CheckpointStore::Newest newest = store.newest();
  for (const auto& skipped : newest.skipped)
    log::warn("{}: {}; skipped", skipped.path.string(), skipped.damage);
  if (newest.entry) what.checkpoint = newest.entry->path;

  what.threads = together.threads(threads_of(options, what));
  prepare_process(what.config, what.device, what.threads);

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
    write_file_atomic(run.file("config.resolved.toml"), resolved_text(what.config));
  }
  append_resume(run.path(), {.identity = now,
                             .checkpoint = newest.entry ? what.checkpoint->filename().string() : "",
                             .step = step,
                             .skipped = newest.skipped,
                             .accepted = found,
                             .device = what.device.text(),
                             .command_line = options.command_line});
  log::info("resumed {} at step {}", run.path().string(), step);
  if (!what.checkpoint) run.cut_metrics(0);
  together.from_first(message(&what));
  together.require_alike(config::hash_of(what.config));
  PreparedRun prepared(together, what);
  prepared.describe_data(run);
  return prepared.train_into(run);
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
