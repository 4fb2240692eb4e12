#include "foxhunt/experiments/walk_forward.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/config/config.h"
#include "foxhunt/evaluation/report/evaluate.h"
#include "foxhunt/evaluation/report/scored_rows.h"
#include "foxhunt/experiments/experiment_folder.h"
#include "foxhunt/train/dataset.h"
#include "foxhunt/train/evaluation_rows.h"
#include "foxhunt/train/proof_subject.h"
#include "foxhunt/train/train.h"
#include "foxhunt/train/trial.h"

namespace foxhunt::experiments {
namespace {

namespace ev = foxhunt::evaluation;
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kState = "walkforward.json";
constexpr const char* kScored = "scored-test.jsonl";
constexpr int kVersion = 1;

/// The plan, and how far each fold came.
struct State {
  std::string config_sha256{};
  std::string data_sha256{};
  std::string leak_proof{};  ///< its seal; empty: unproven
  FoldPlan plan{};
  std::vector<std::string> done{};  ///< [folds] "", "trained", "judged"

  std::string to_json() const {
    Json folds = Json::array();
    for (std::size_t k = 0; k < plan.folds.size(); ++k) {
      const Fold& f = plan.folds[k];
      folds.push_back({{"run", name_of(k)},
                       {"train_begin", to_string(f.train_begin)},
                       {"train_end", to_string(f.train_end)},
                       {"valid_end", to_string(f.valid_end)},
                       {"test_end", to_string(f.test_end)},
                       {"state", done[k].empty() ? "planned" : done[k]}});
    }
    Json json{
        {"version", kVersion}, {"config_sha256", config_sha256}, {"data_sha256", data_sha256}};
    if (!leak_proof.empty()) json["leak_proof"] = leak_proof;
    json["length"] = plan.length;
    json["unused"] = plan.unused;
    json["folds"] = std::move(folds);
    return json.dump(2) + "\n";
  }

  static std::string name_of(std::size_t k) { return fmt::format("fold-{:03}", k + 1); }
};

/// What an earlier process left, taken over into `state`. Errors  ConfigError: another plan.
void take_over(const fs::path& file, State& state) {
  Json json;
  try {
    json = Json::parse(read_file(file));
    const bool same = json.at("version") == kVersion &&
                      json.at("config_sha256") == state.config_sha256 &&
                      json.at("data_sha256") == state.data_sha256 &&
                      json.at("folds").size() == state.plan.folds.size();
    if (!same) {
      throw ConfigError(fmt::format(
          "{}: is of another configuration or other data; choose another --out or add --overwrite",
          file.string()));
    }
    if (json.value("leak_proof", "") != state.leak_proof) {
      throw ConfigError(fmt::format(
          "{}: its folds were trained with {}; name the same --proof, choose another --out or add "
          "--overwrite",
          file.string(), json.contains("leak_proof") ? "another leak proof" : "no leak proof"));
    }
    for (std::size_t k = 0; k < state.done.size(); ++k) {
      const std::string how = json["folds"][k].at("state");
      state.done[k] = how == "planned" ? "" : how;
    }
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

train::ExperimentConfig fold_config(const train::ExperimentConfig& config, const Fold& fold) {
  train::ExperimentConfig one = config.single_run();
  one.split = fold.to_split(config.split);
  return one;
}

/// The seal of a proof that speaks of every fold; "" for none.
std::string checked_seal(const WalkForwardOptions& options, const train::ExperimentConfig& config,
                         const FoldPlan& plan, const std::vector<train::DataFile>& files) {
  if (options.proof.empty()) {
    train::checked_proof({}, options.require_proof, config);
    return {};
  }
  std::string seal;
  bundle::ProofSubject here = train::proof_subject(config, train::data_hashes(files));
  for (const Fold& fold : plan.folds) {  // of the subject, folds differ in their split alone
    here.split = config::hash_of(fold.to_split(config.split));
    seal = bundle::require_leak_proof(options.proof, here).sha256;
  }
  return seal;
}

/// Trains a fold that is not trained yet, from its newest checkpoint where there is one.
void train_fold(const train::ExperimentConfig& config, const fs::path& run,
                const WalkForwardOptions& options) {
  if (fs::exists(run / "last" / "state.json") || fs::exists(run / "result.json")) {
    train::resume(run, {.device = options.device,
                        .progress = options.progress,
                        .command_line = options.command_line});
    return;
  }
  train::train(config, {.out = run,
                        .overwrite = true,
                        .device = options.device,
                        .progress = options.progress,
                        .config_text = config::dump(config),
                        .command_line = options.command_line,
                        .proof = options.proof});
}

void judge_fold(const fs::path& run, const WalkForwardOptions& options) {
  train::evaluate(run, {.split = "test",
                        .device = options.device,
                        .scored = run / kScored,
                        .uncounted = "a fold of a walk-forward, which is counted as one trial",
                        .progress = options.progress});
}

ev::Value value_of(const Json& json, const char* key, const char* reason) {
  return json.at(key).is_null() ? ev::Value::undefined(reason)
                                : ev::Value::of(json[key].get<double>());
}

ev::Value minus(const ev::Value& v) { return v ? ev::Value::of(-*v) : v; }

FoldResult result_of(const Fold& fold, const fs::path& run) {
  const auto evaluation = Json::parse(read_file(run / "evaluation-test.json"));
  const auto state = Json::parse(read_file(run / "best" / "state.json"));
  const auto headline = evaluation.at("vs_best_baseline").begin();
  const std::string& metric = headline.key();
  const Json& versus = headline.value();
  constexpr const char* kReason = "undefined on the rows of this fold";
  FoldResult result{.fold = fold,
                    .run = run.filename().string(),
                    .weights_sha256 = state.at("weights_sha256"),
                    .best_epoch = state.at("best_epoch"),
                    .rows = evaluation.at("rows"),
                    .metric = metric,
                    .model = value_of(evaluation.at("metrics").at(metric), "value", kReason),
                    .baseline = versus.at("baseline").is_null() ? "" : versus["baseline"],
                    .gain = minus(value_of(versus, "difference", kReason)),
                    .interval = {}};
  // The headline of every task is a loss: a gain is baseline minus model.
  result.interval = {minus(value_of(versus, "hi", kReason)),
                     minus(value_of(versus, "lo", kReason))};
  return result;
}

ev::EvaluationReport judge_together(const train::ExperimentConfig& config, const fs::path& folder,
                                    const std::vector<FoldResult>& folds) {
  std::vector<ev::ScoredRows> parts;
  for (const FoldResult& fold : folds) {
    const fs::path file = folder / fold.run / kScored;
    parts.push_back(ev::parse_scored_rows(read_file(file), file.string()));
  }
  const ev::ScoredRows all = ev::pooled(parts);
  return ev::evaluate(all.rows, all.task, all.model, all.baselines,
                      train::evaluation_options(config),
                      Rng(static_cast<std::uint64_t>(config.hyper.train.seed)).split("pooled"));
}

/// All folds' weights as one: what was looked at.
std::string weights_of(const std::vector<FoldResult>& folds) {
  std::string text;
  for (const FoldResult& fold : folds) text += fold.weights_sha256 + "\n";
  return sha256_of(text);
}

}  // namespace

WalkForwardReport walk_forward(const train::ExperimentConfig& config,
                               const WalkForwardOptions& options) {
  if (const auto errors = config.errors(); !errors.empty())
    throw ConfigError("[config] " + errors.front());
  const train::Dataset data = train::load_rows(config);
  train::require_locked(config.data, data.files);
  State state{.config_sha256 = config::hash_of(config),
              .data_sha256 = sha256_of(train::data_lock_json(data.files)),
              .leak_proof = {},
              .plan = plan_folds(config.walkforward, day_starts(data.set.sequences)),
              .done = {}};
  state.leak_proof = checked_seal(options, config, state.plan, data.files);
  state.done.resize(state.plan.folds.size());
  // Behind all that speaks against it: an earlier walk-forward goes for one that can begin.
  const ExperimentFolder folder(options.out, kState, options.overwrite);
  if (folder.begun()) take_over(folder.state(), state);
  write_file_atomic(folder.state(), state.to_json());

  WalkForwardReport report{.folder = folder.path(),
                           .plan = state.plan,
                           .leak_proof = state.leak_proof,
                           .folds = {},
                           .pooled = {}};
  for (std::size_t k = 0; k < state.plan.folds.size(); ++k) {
    if (interrupted()) throw InterruptedError("interrupted between folds; everything is saved");
    const train::ExperimentConfig fold = fold_config(config, state.plan.folds[k]);
    const fs::path run = folder.file(State::name_of(k));
    log::info("fold {} of {}: trains {} to {}, validates to {}, tests to {}{}", k + 1,
              state.plan.folds.size(), fold.split.train_begin, fold.split.train_end,
              fold.split.valid_end, fold.split.test_end,
              state.done[k] == "judged" ? " (done before)" : "");
    const auto advance = [&](const char* how) {
      state.done[k] = how;
      write_file_atomic(folder.state(), state.to_json());
    };
    if (state.done[k].empty()) {
      train_fold(fold, run, options);
      advance("trained");
    }
    if (state.done[k] == "trained") {
      judge_fold(run, options);
      advance("judged");
    }
    report.folds.push_back(result_of(state.plan.folds[k], run));
    if (report.folds.back().gain.or_else(0) > 0) ++report.better;
  }
  report.pooled = judge_together(config, folder.path(), report.folds);
  train::count_trial(report.pooled,
                     {.verb = "walkforward",
                      .data = train::data_set_of(config, data.files),
                      .part = "test",
                      .run = fs::absolute(folder.path()).lexically_normal().string(),
                      .weights_sha256 = weights_of(report.folds),
                      .config_sha256 = state.config_sha256,
                      .seed = config.hyper.train.seed},
                     options.ledger);
  write_file_atomic(folder.file("walkforward-report.json"), to_json(report) + "\n");
  write_file_atomic(folder.file("walkforward.txt"), to_text(report));
  write_file_atomic(folder.file("walkforward.svg"), to_svg(report));
  return report;
}

}  // namespace foxhunt::experiments
