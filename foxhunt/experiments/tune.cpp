#include "foxhunt/experiments/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <set>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/config/config.h"
#include "foxhunt/experiments/children.h"
#include "foxhunt/experiments/experiment_folder.h"
#include "foxhunt/experiments/halving.h"
#include "foxhunt/ledger/trials.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/trial.h"

namespace foxhunt::experiments {
namespace {

namespace fs = std::filesystem;

constexpr const char* kState = "tune.json";

std::string name_of(std::size_t index) { return fmt::format("trial-{:03}", index + 1); }

train::Dataset locked_dataset(const train::ExperimentConfig& config) {
  train::Dataset data = train::load_dataset(config);
  train::require_locked(config.data, data.files);
  return data;
}

/// One search in its folder.
class Search {
 public:
  Search(const train::ExperimentConfig& config, const TuneOptions& options)
      : config_(config),
        options_(options),
        ranges_(checked_ranges(config, options.config_files)),
        data_(locked_dataset(config)),
        folder_(options.out, kState, options.overwrite) {
    const bool halving = config.tune.method == train::TuneMethod::kHalving;
    const std::int64_t longest = config.hyper.train.epochs;
    rungs_ = rungs(halving ? config.tune.min_epochs : longest, config.tune.eta, longest);
    begin();
  }

  TuneReport run() {
    std::vector<std::size_t> in_rung;
    for (const Trial& trial : state_.trials) in_rung.push_back(trial.index);
    for (std::size_t r = 0; r < rungs_.size(); ++r) {
      train_to(in_rung, r);
      if (r + 1 == rungs_.size()) break;
      std::vector<std::optional<double>> losses;
      for (const std::size_t i : in_rung) losses.push_back(loss_at(i, rungs_[r]));
      in_rung = survivors(in_rung, losses, config_.tune.eta);
      log::info("{} of the trials go on to {} epochs", in_rung.size(), rungs_[r + 1]);
    }
    return report(in_rung);
  }

 private:
  /// Draws the trials, or takes over what an earlier process left.
  void begin() {
    const std::string hash = config::hash_of(config_);
    if (folder_.begun()) {
      state_ = TuneState::from_json(read_file(folder_.state()), folder_.state().string());
      if (state_.config_sha256 != hash) {
        throw ConfigError(
            fmt::format("{}: is of another configuration; choose another --out or add --overwrite",
                        folder_.state().string()));
      }
      log::info("going on with the search in {}", folder_.path().string());
      return;
    }
    state_ = {.config_sha256 = hash, .ranges = config_.tune.ranges, .trials = {}};
    for (std::int64_t i = 0; i < config_.tune.trials; ++i) {
      const auto index = static_cast<std::size_t>(i);
      Trial trial{.index = index, .values = draw(ranges_, config_.tune.seed, i)};
      write_file_atomic(folder_.file(name_of(index) + ".toml"),
                        config::dump(with_values(config_, ranges_, trial.values)));
      state_.trials.push_back(std::move(trial));
    }
    save();
  }

  void save() const { write_file_atomic(folder_.state(), state_.to_json()); }

  std::optional<double> loss_at(std::size_t index, std::int64_t epochs) const {
    const RungResult* result = state_.trials[index].at(epochs);
    return result == nullptr ? std::nullopt : std::optional(result->loss);
  }

  Job job_of(std::size_t index, std::size_t rung) const {
    const std::string name = name_of(index);
    const fs::path run = folder_.file(name);
    const bool halfway = fs::exists(run / "last" / "state.json") || fs::exists(run / "result.json");
    std::vector<std::string> words =
        halfway ? std::vector<std::string>{"resume", run.string(), "--ledger", "none"}
                : std::vector<std::string>{
                      "train",    "--config",   folder_.file(name + ".toml").string(),
                      "--out",    run.string(), "--overwrite",
                      "--ledger", "none"};
    words.insert(words.end(), {"--device", options_.device, "--json", "--quiet"});
    if (config_.hyper.train.threads == 0) {  // no result depends on it
      const std::int64_t share =
          std::max<std::int64_t>(1, this_machine().cores / options_.parallel);
      if (halfway) {
        words.insert(words.end(), {"--threads", std::to_string(share)});
      } else {
        words.insert(words.end(), {"--set", fmt::format("train.threads={}", share)});
      }
    }
    if (rung + 1 < rungs_.size())
      words.insert(words.end(), {"--pause-after-epoch", std::to_string(rungs_[rung])});
    return {.id = index,
            .arguments = std::move(words),
            .output = folder_.file(name + ".out"),
            .log = folder_.file(name + ".log")};
  }

  /// Trains those that have not come so far, several at once.
  void train_to(const std::vector<std::size_t>& trials, std::size_t rung) {
    std::deque<std::size_t> waiting;
    for (const std::size_t i : trials) {
      if (state_.trials[i].error.empty() && !state_.trials[i].reached(rungs_[rung]))
        waiting.push_back(i);
    }
    Children children;
    while (!waiting.empty() || children.running() > 0) {
      while (!waiting.empty() && !interrupted() &&
             static_cast<std::int64_t>(children.running()) < options_.parallel) {
        children.start(job_of(waiting.front(), rung));
        waiting.pop_front();
      }
      if (children.running() == 0) break;
      take(children.wait_for_one(), rung);
    }
    if (interrupted()) {
      throw InterruptedError(
          fmt::format("interrupted; the same command goes on with {}", folder_.path().string()));
    }
  }

  /// What a child left becomes part of the state.
  void take(const Ended& ended, std::size_t rung) {
    if (ended.exit_code == static_cast<int>(ExitCode::kInterrupted) || interrupted()) return;
    Trial& trial = state_.trials[ended.id];
    trial.seconds += ended.seconds;
    const std::string name = name_of(ended.id);
    try {
      if (ended.exit_code != 0)
        throw DataError(fmt::format("exit code {}: {}", ended.exit_code,
                                    last_line(folder_.file(name + ".log"))));
      const auto out = nlohmann::json::parse(read_file(folder_.file(name + ".out")));
      trial.rungs.push_back({.epochs = rungs_[rung],
                             .loss = out.at("best_valid_loss"),
                             .best_epoch = out.at("best_epoch"),
                             .ended = out.at("stopped") != "paused"});
      trial.weights_sha256 = out.at("weights_sha256");
      log::info("{}: validation loss {:.5f} after {} epochs at most", name, trial.rungs.back().loss,
                rungs_[rung]);
    } catch (const std::exception& error) {
      trial.error = error.what();
      log::warn("{} failed: {}", name, trial.error);
    }
    save();
  }

  TuneReport report(const std::vector<std::size_t>& last_rung) {
    TuneReport report{.folder = folder_.path(),
                      .ranges = ranges_,
                      .rungs = rungs_,
                      .trials = state_.trials,
                      .best = {},
                      .failed = std::ranges::count_if(
                          state_.trials, [](const Trial& t) { return !t.error.empty(); }),
                      .counted = count()};
    for (const std::size_t i : last_rung) {
      const std::optional<double> loss = state_.trials[i].loss();
      if (loss && (!report.best || *loss < *state_.trials[*report.best].loss())) report.best = i;
    }
    write_file_atomic(folder_.file("tune-report.json"), to_json(report) + "\n");
    write_file_atomic(folder_.file("tune.txt"), to_text(report));
    write_file_atomic(folder_.file("tune.svg"), to_svg(report));
    if (!report.best) {
      throw NotConvergedError(
          fmt::format("every trial failed; the first: {}", state_.trials.front().error));
    }
    write_best(state_.trials[*report.best]);
    return report;
  }

  void write_best(const Trial& trial) const {
    const std::string head = fmt::format(
        "# The best of {} trials by the validation loss ({:.6f}): {}. Ready for foxhunt train.\n",
        state_.trials.size(), *trial.loss(), name_of(trial.index));
    write_file_atomic(folder_.file("best.toml"),
                      head + config::dump(with_values(config_, ranges_, trial.values)));
  }

  /// Every trial is a look at the validation rows.
  std::string count() const {
    if (options_.ledger.empty()) return "not counted: no ledger was named";
    const train::PartInterval& valid = data_.split.interval(train::Part::kValid);
    ledger::Evaluation look{.verb = "tune",
                            .data = train::data_set_of(config_, data_.files),
                            .part = "valid",
                            .rows = valid.labelled,
                            .first = valid.first_available,
                            .last = valid.last_available,
                            .git_revision = std::string(git_revision()),
                            .metric = "validation loss"};
    try {
      ledger::Ledger book = ledger::Ledger::open_to_write(options_.ledger);
      std::set<std::string> known;
      for (const ledger::Evaluation& e : ledger::evaluations(book))
        known.insert(e.run + e.weights_sha256);
      for (const Trial& trial : state_.trials) {
        const train::ExperimentConfig config = with_values(config_, ranges_, trial.values);
        look.run = fs::absolute(folder_.file(name_of(trial.index))).lexically_normal().string();
        look.value = trial.loss();
        look.weights_sha256 = trial.weights_sha256;
        look.config_sha256 = config::hash_of(config);
        look.seed = config.hyper.train.seed;
        look.seconds = trial.seconds;
        if (trial.loss() && !known.contains(look.run + look.weights_sha256))
          ledger::record(book, look);
      }
      const ledger::TrialCount count = ledger::count_trials(book, look);
      return fmt::format("{} sets of weights have been tried on these validation rows",
                         count.trials);
    } catch (const Error& error) {
      log::warn("these trials are not counted: {}", error.what());
      return fmt::format("not counted: {}", error.what());
    }
  }

  const train::ExperimentConfig& config_;
  const TuneOptions& options_;
  std::vector<Range> ranges_;
  train::Dataset data_;
  ExperimentFolder folder_;
  std::vector<std::int64_t> rungs_;
  TuneState state_;
};

}  // namespace

TuneReport tune(const train::ExperimentConfig& config, const TuneOptions& options) {
  if (const auto errors = config.errors(); !errors.empty())
    throw ConfigError("[config] " + errors.front());
  return Search(config, options).run();
}

}  // namespace foxhunt::experiments
