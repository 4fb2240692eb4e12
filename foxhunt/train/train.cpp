// The door's train(): puts an experiment together and hands it to the trainer.
#include "foxhunt/train/train.h"

#include <ATen/Parallel.h>
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <sstream>

#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/config/config.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/train/environment.h"
#include "foxhunt/train/machine_choice.h"
#include "foxhunt/train/memory/byte_size.h"
#include "foxhunt/train/memory/planner.h"
#include "foxhunt/train/proof_subject.h"
#include "foxhunt/train/run_dir.h"
#include "foxhunt/train/run_identity.h"
#include "foxhunt/train/together.h"
#include "foxhunt/train/training_run.h"

namespace foxhunt::train {
namespace {

/// --test: everything happens, in two small epochs. Written into the resolved configuration like
/// any other setting.
void shrink(ExperimentConfig& config) {
  config.hyper.train.epochs = 2;
  config.windows.length = std::min<std::int64_t>(config.windows.length, 64);
  config.windows.burn_in = std::min<std::int64_t>(config.windows.burn_in, 16);
  config.windows.stride = 0;
  config.hyper.model.n_layer = std::min<std::int64_t>(config.hyper.model.n_layer, 1);
  config.hyper.model.chunk_size = std::min<std::int64_t>(config.hyper.model.chunk_size, 32);
  config.evaluate.bootstrap_samples =
      std::min<std::int64_t>(config.evaluate.bootstrap_samples, 100);
}

/// Machines may differ: what rank 0 chose holds for all. Errors  ConfigError: more ranks than that.
void choose_together(ExperimentConfig& config, const nn::DeviceSpec& device,
                     const Together& together) {
  choose_for_machine(config, device);
  std::int64_t& chunk = config.hyper.model.chunk_size;
  std::int64_t& lanes = config.hyper.train.lanes;
  std::istringstream(together.from_first(fmt::format("{} {}", chunk, lanes))) >> chunk >> lanes;
  const TrainConfig& train = config.hyper.train;
  // Without lanes that can be copied each rank is one.
  const bool shared = device.kind == nn::DeviceKind::kCpu && train.kernels == nn::Kernels::kNative;
  together.require_lanes(shared ? lanes : std::numeric_limits<std::int64_t>::max(),
                         train.batch_size);
}

/// Where there is a budget, cuts the configuration to fit it: alike on every rank.
void plan_for_budget(ExperimentConfig& config, const nn::DeviceSpec& device,
                     const Together& together) {
  const std::int64_t budget = parse_byte_size(config.hyper.train.memory_budget);
  if (budget == 0) return;
  const bool cuda = device.kind == nn::DeviceKind::kCuda;
  const DataFacts facts = data_facts(config, /*rows=*/0, std::numeric_limits<std::int64_t>::max());
  const MemoryPlan plan = plan_memory(config, budget, [&](const ExperimentConfig& c) {
    return estimate_memory(c, 0, facts, cuda);
  });
  log::info("{}", plan.text);
  TrainConfig& train = config.hyper.train;
  int again = static_cast<int>(train.recompute);
  std::istringstream(together.from_first(
      fmt::format("{} {} {} {}", train.micro_batch, train.lanes, train.threads, again))) >>
      train.micro_batch >> train.lanes >> train.threads >> again;
  train.recompute = static_cast<Recompute>(again);
}

void describe_run(RunDir& run, const ExperimentConfig& config, const TrainOptions& options,
                  const std::optional<bundle::LeakProof>& proof, const PreparedRun& prepared) {
  if (proof) {
    write_file_atomic(run.file(bundle::kLeakProofFile), proof->text);
    log::info("leak proof {} holds", proof->sha256.substr(0, 16));
  } else {
    log::info("unproven: no leak proof was named (foxhunt features prove, train --proof)");
  }
  if (!options.config_text.empty()) write_file_atomic(run.file("config.toml"), options.config_text);
  write_file_atomic(run.file("env.json"),
                    environment_json(options.command_line, options.device, at::get_num_threads(),
                                     config.hyper.train.seed));
  prepared.describe_data(run);
  // Last: with it the folder is a run that can be resumed.
  write_file_atomic(run.file("config.resolved.toml"), resolved_text(config));
}

RunDir new_run(const ExperimentConfig& config, const TrainOptions& options) {
  return options.out.empty() ? RunDir::create_below("runs", config.name)
                             : RunDir::create(options.out, options.overwrite);
}

}  // namespace

TrainReport train(ExperimentConfig config, const TrainOptions& options) {
  if (options.test) shrink(config);
  Together together;
  const nn::DeviceSpec device = nn::parse_device(together.device(options.device));
  const std::int64_t threads = together.threads(config.hyper.train.threads);
  prepare_process(config, device, threads);
  together.meet(config.hyper.train.rank_timeout);
  return together.all([&] {
    together.require_alike(config::hash_of(config));
    choose_together(config, device, together);
    // Whatever speaks against it is said before there is a folder (training_run.h); of rank 0,
    // which alone writes.
    std::optional<bundle::LeakProof> proof;
    std::optional<log::FileSink> log_file;
    if (together.leads()) {
      if (!options.out.empty()) RunDir::require_free(options.out, options.overwrite);
      proof = checked_proof(options.proof, options.require_proof, config);
      log_file.emplace();
    }
    plan_for_budget(config, device, together);
    const std::int64_t planned = config.hyper.train.threads;
    PreparedRun prepared(together, {.config = config,
                                    .device = device,
                                    .progress = options.progress,
                                    .pause_after_epoch = options.pause_after_epoch,
                                    .threads = planned > 0 ? together.threads(planned) : threads});
    RunDir run = together.open([&] { return new_run(config, options); });
    if (together.leads()) {
      log_file->open(run.file("log.txt"));
      describe_run(run, config, options, proof, prepared);
    }
    return prepared.train_into(run);
  });
}

}  // namespace foxhunt::train
