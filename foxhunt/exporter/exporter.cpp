#include "foxhunt/exporter/exporter.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/exporter/candidates.h"
#include "foxhunt/exporter/trained.h"
#include "foxhunt/exporter/training_summary.h"
#include "foxhunt/market/bar_selector.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/tensor_io.h"
#include "foxhunt/train/opened_run.h"
#include "foxhunt/train/proof_subject.h"

namespace foxhunt::exporter {
namespace {

using bundle::WeightForm;

constexpr std::array kForms{WeightForm::kF32, WeightForm::kF16, WeightForm::kBF16, WeightForm::kI8};

/// The last `most` bars of the files, as the run selects them.
std::vector<market::Bar> last_bars(const train::DataConfig& config,
                                   const std::vector<std::string>& paths, std::int64_t most) {
  market::BarSelector selector({.product = config.product, .symbol = config.symbol});
  std::deque<market::Bar> bars;
  for (const std::string& path : paths) {
    const std::unique_ptr<market::Reader> reader = market::open_reader(path, {.csv = config.csv});
    while (const market::Bar* bar = selector.next(*reader)) {
      bars.push_back(*bar);
      if (static_cast<std::int64_t>(bars.size()) > most) bars.pop_front();
    }
  }
  return {bars.begin(), bars.end()};
}

/// The first events of the last file, as the run selects them, up to the one that gives the
/// `most`-th row.
std::vector<market::OrderEvent> first_events(const train::DataConfig& config,
                                             const std::string& path,
                                             const bundle::ModelContext& context,
                                             std::int64_t most) {
  market::BarSelector selector({.product = config.product, .symbol = config.symbol});
  const std::unique_ptr<market::Reader> reader = market::open_reader(path, {.csv = config.csv});
  features::RowPipeline pipeline = context.pipeline();
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  std::vector<market::OrderEvent> events;
  while (pipeline.counters().ready < most) {
    const market::OrderEvent* event = selector.next_event(*reader);
    if (event == nullptr) break;
    pipeline.push(*event, row);
    events.push_back(*event);
  }
  return events;
}

/// What both halves answer, and what of it travels.
struct Compared {
  std::vector<market::Bar> bars{};
  std::vector<market::OrderEvent> events{};
  TrainedAnswers trained{};
  bundle::Golden golden{};

  std::size_t size() const { return bars.size() + events.size(); }
  UnixNanos first() const { return events.empty() ? bars.front().start : events.front().ts_recv; }
  UnixNanos last() const { return events.empty() ? bars.back().end() : events.back().ts_recv; }
  engine::Rows rows() const {
    return {.bars = bars, .events = events, .ready = trained.ready, .outputs = trained.outputs};
  }
};

Compared compared_records(const train::ExperimentConfig& config, train::LoadedModel& best,
                          const std::vector<std::string>& paths, const ExportOptions& options) {
  Compared c;
  // What travels starts from nothing, so the trained model answers it anew.
  if (best.context.book) {
    c.events = first_events(config.data, paths.back(), best.context, options.parity_samples);
    c.trained = answers_of(*best.model, best.context, c.events);
    c.golden.events = first_events(config.data, paths.back(), best.context, options.golden_samples);
  } else {
    c.bars = last_bars(config.data, paths, options.parity_bars);
    c.trained = answers_of(*best.model, best.context, c.bars);
    const auto n = static_cast<std::ptrdiff_t>(
        std::min<std::size_t>(c.bars.size(), static_cast<std::size_t>(options.golden_bars)));
    c.golden.bars.assign(c.bars.end() - n, c.bars.end());
  }
  TrainedAnswers golden = best.context.book ? answers_of(*best.model, best.context, c.golden.events)
                                            : answers_of(*best.model, best.context, c.golden.bars);
  c.golden.ready = std::move(golden.ready);
  c.golden.outputs = std::move(golden.outputs);
  return c;
}

const Candidate& choose(const std::vector<Candidate>& candidates) {
  const Candidate* best = nullptr;
  std::string reasons;
  for (const Candidate& candidate : candidates) {
    if (!candidate.refused.empty()) {
      reasons += fmt::format("\n  {}: {}", to_string(candidate.form), candidate.refused);
    } else if (best == nullptr || candidate.step_us < best->step_us) {
      best = &candidate;
    }
  }
  if (best == nullptr) {
    throw ConfigError(
        fmt::format("[export] the engine does not answer as the trained model did; no bundle is "
                    "written{}",
                    reasons));
  }
  return *best;
}

std::string names_of(const std::vector<std::string>& paths) {
  std::string text;
  for (const std::string& path : paths) {
    text += (text.empty() ? "" : ", ") + std::filesystem::path(path).filename().string();
  }
  return text;
}

/// The run's leak proof, found to speak of what the run was trained on; without `required` a
/// missing one is nullopt, and so is one that does not count, with a warning.
std::optional<bundle::LeakProof> proof_of(const train::RunDir& dir,
                                          const train::ExperimentConfig& config,
                                          const std::vector<train::DataFile>& files,
                                          bool required) {
  const std::filesystem::path path = dir.file(bundle::kLeakProofFile);
  if (!std::filesystem::exists(path)) {
    if (!required) return std::nullopt;
    throw DataError(fmt::format("{}: the run is unproven (train --proof)", dir.path().string()));
  }
  try {
    return bundle::require_leak_proof(path,
                                      train::proof_subject(config, train::data_hashes(files)));
  } catch (const Error& error) {
    if (required) throw;
    log::warn("{}; the bundle is unproven", error.what());
    return std::nullopt;
  }
}

}  // namespace

ExportReport export_run(const std::filesystem::path& run, const ExportOptions& options) {
  std::vector<WeightForm> forms(kForms.begin(), kForms.end());
  if (options.weights != "auto") forms = {bundle::weight_form_of(options.weights)};

  const train::RunDir dir = train::RunDir::open(run);
  train::ExperimentConfig config;
  train::load_experiment(config, {dir.file("config.resolved.toml").string()}, {});
  train::LoadedModel best = train::load_best(dir.path(), at::Device(at::kCPU));
  const std::vector<train::DataFile> files =
      train::parse_data_lock(read_file(dir.file("data.lock")));
  const std::vector<std::string> paths =
      options.data.empty() ? train::require_unchanged(files) : options.data;

  const auto proof = proof_of(dir, config, files, options.require_proof);
  Compared compared = compared_records(config, best, paths, options);
  const engine::Rows rows = compared.rows();
  if (rows.outputs.empty()) {
    throw DataError(fmt::format("[export] {} records of {} give no row to compare", compared.size(),
                                names_of(paths)));
  }
  log::info("{} records, {} rows to compare", compared.size(),
            std::ranges::count(rows.ready, std::uint8_t{1}));

  bundle::Bundle out{.config = best.model->config(),
                     .head = best.model->head_config(),
                     .context = best.context,
                     .weights = weights_of(*best.model)};
  ExportReport report;
  report.path = options.out;
  report.records = static_cast<std::int64_t>(compared.size());
  for (const WeightForm form : forms) report.candidates.push_back(compare(out, form, rows));
  time_steps(out, report.candidates);
  const Candidate& chosen = choose(report.candidates);

  if (proof) {
    out.leak_proof_json = proof->text;
    report.leak_proof = proof->sha256;
  }
  out.form = report.form = chosen.form;
  out.training_json = training_summary(dir, best.checkpoint, nn::weights_hash(*best.model), files);
  out.certificate = {
      .parity = chosen.parity,
      .bound = chosen.bound,
      .kernels = chosen.kernels,
      .reference = fmt::format("LibTorch {}, cpu, float32, whole sequences", nn::torch_version()),
      .cpu = this_machine().cpu_model,
      .data = fmt::format("{}: {} to {}", names_of(paths), to_string(compared.first()),
                          to_string(compared.last()))};
  out.golden = std::move(compared.golden);
  report.golden_rows = std::ranges::count(out.golden.ready, std::uint8_t{1});
  report.id = bundle::write_bundle(options.out, out);
  report.file_bytes = static_cast<std::int64_t>(std::filesystem::file_size(options.out));
  return report;
}

}  // namespace foxhunt::exporter
