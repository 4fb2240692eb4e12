#include "foxhunt/train/bench_train/bench_train.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include "foxhunt/base/build_info.h"
#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/hash.h"
#include "foxhunt/base/interrupt.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/config/config.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/train/bench_train/bench_journal.h"
#include "foxhunt/train/bench_train/bench_run.h"
#include "foxhunt/train/bench_train/device_reference.h"
#include "foxhunt/train/bench_train/host_reference.h"
#include "foxhunt/train/bench_train/machine_load.h"
#include "foxhunt/train/machine_choice.h"
#include "foxhunt/train/resident_peak.h"
#include "foxhunt/train/step_program.h"
#include "foxhunt/train/synthetic_data.h"

namespace foxhunt::train {
namespace {

constexpr double kUsableShare = 0.8;  ///< of the free memory
constexpr double kBusy = 0.1;         ///< cores of others from which on a warning is due

class Program final : public BenchProgram {
 public:
  explicit Program(const StepSpec& spec) : program_(spec) {}
  double step() override { return program_.step(); }
  std::string kernels() const override { return std::string(name_of(program_.kernels_in_use())); }
  std::int64_t parameters() const { return program_.parameters(); }

 private:
  StepProgram program_;
};

/// This machine.
class Machine final : public BenchMachine {
 public:
  Machine(const ExperimentConfig& config, std::int64_t threads)
      : config_(config),
        features_(feature_width(config)),
        threads_(threads),
        reference_(static_cast<int>(threads)) {}

  StepSpec spec_of(const BenchCase& which) const {
    ExperimentConfig config = which.applied_to(config_);
    const nn::DeviceSpec device = nn::parse_device(which.device);
    choose_for_machine(config, device);
    return {.model = config.hyper.to_model_config(),
            .head = config.hyper.to_head_config(features_, config.label.kind),
            .batch = which.batch,
            .tokens = config.windows.length,
            .device = device,
            .threads = threads_,
            .train = config.hyper.train};
  }

  std::unique_ptr<BenchProgram> make(const BenchCase& which) override {
    return std::make_unique<Program>(spec_of(which));
  }
  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }
  void settle() override {
    // OpenMP's threads spin on for a while after LibTorch's last operation.
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  void run_reference(const std::string& device, std::int64_t programs) override {
    DeviceReference* own = on_device(device);
    for (std::int64_t i = 0; i < programs; ++i) own != nullptr ? own->run() : reference_.run_all();
    if (own != nullptr) own->wait();
  }
  void run_reference_single(const std::string& device) override {
    if (on_device(device) != nullptr)
      run_reference(device, 1);
    else
      reference_.run_one();
  }
  void start_watch(const std::string& device) override {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    on_device(device);  // its memory is none of the program's
    const nn::DeviceSpec spec = nn::parse_device(device);
    if (spec.kind == nn::DeviceKind::kCuda) start_gpu_peak(spec);
    resident_.emplace();
    load_.emplace();
  }
  std::int64_t peak_bytes(const std::string& device) override {
    const nn::DeviceSpec spec = nn::parse_device(device);
    return spec.kind == nn::DeviceKind::kCuda ? gpu_peak_bytes(spec) - on_device(device)->bytes()
                                              : resident_->bytes();
  }
  double other_cores() override { return load_->other_cores(); }
  std::int64_t features() const { return features_; }

 private:
  /// Null on the CPU.
  DeviceReference* on_device(const std::string& device) {
    const nn::DeviceSpec spec = nn::parse_device(device);
    if (spec.kind != nn::DeviceKind::kCuda) return nullptr;
    std::unique_ptr<DeviceReference>& own = device_references_[device];
    if (!own) own = std::make_unique<DeviceReference>(spec);
    return own.get();
  }

  const ExperimentConfig& config_;
  std::int64_t features_, threads_;
  HostReference reference_;
  std::map<std::string, std::unique_ptr<DeviceReference>> device_references_{};  ///< of GPUs
  std::optional<ResidentPeak> resident_;
  std::optional<MachineLoad> load_;
};

TrainBenchOptions with_defaults(TrainBenchOptions o, const nn::CudaReport& cuda) {
  if (o.most_batch == 0) o.most_batch = o.brief ? 64 : 256;
  if (o.budget_seconds <= 0) o.budget_seconds = o.brief ? 300 : 1800;
  if (o.target_share <= 0) o.target_share = o.brief ? 0.1 : 0.05;
  if (o.devices.empty()) {
    o.devices.emplace_back("cpu");
    for (std::size_t i = 0; i < cuda.gpus.size(); ++i)
      o.devices.push_back(fmt::format("cuda:{}", i));
  }
  for (std::string& device : o.devices) {
    const nn::DeviceSpec spec = nn::parse_device(device);
    nn::open_device(spec);
    device = spec.text();
  }
  for (const std::string& p : o.precisions) {
    if (p != "fp32" && p != "bf16")
      throw UsageError(fmt::format("[bench] unknown precision '{}'; choose from fp32, bf16", p));
  }
  for (const std::string& k : o.kernels) {
    if (k != "native" && k != "aten")
      throw UsageError(fmt::format("[bench] unknown kernels '{}'; choose from native, aten", k));
  }
  return o;
}

/// Batches outside, so that what is compared runs side by side.
std::vector<CaseRecord> plan(const TrainBenchOptions& o, std::int64_t own_batch) {
  const std::vector<std::int64_t> batches =
      o.batches.empty() ? batches_of(o.most_batch, own_batch, o.brief) : o.batches;
  std::vector<CaseRecord> records;
  for (const std::int64_t batch : batches) {
    for (const std::string& device : o.devices) {
      for (const std::string& precision : o.precisions) {
        for (const std::string& kernels : o.kernels)
          records.push_back({.which = {device, precision, kernels, batch}});
      }
    }
  }
  return records;
}

std::map<std::string, std::int64_t> memory_of(const TrainBenchOptions& o) {
  std::map<std::string, std::int64_t> memory;
  for (const std::string& device : o.devices) {
    const nn::DeviceSpec spec = nn::parse_device(device);
    std::int64_t bytes = o.memory_bytes;
    if (bytes == 0) {
      const std::int64_t free =
          spec.kind == nn::DeviceKind::kCuda ? gpu_memory(spec).free : available_memory();
      bytes = static_cast<std::int64_t>(kUsableShare * static_cast<double>(free));
    }
    if (bytes > 0) memory[device] = bytes;
  }
  return memory;
}

BenchReport describe(const ExperimentConfig& config, const TrainBenchOptions& o,
                     const nn::CudaReport& cuda, std::int64_t threads) {
  const foxhunt::Machine machine = this_machine();
  const model::Mamba2Config& m = config.hyper.model;
  BenchReport report;
  report.experiment = config.name;
  report.config_hash = config::hash_of(config);
  report.model =
      fmt::format("Mamba-2, d_model {}, {} layers, d_state {}", m.d_model, m.n_layer, m.d_state);
  report.cpu = machine.cpu_model;
  report.machine_fingerprint = cpu_fingerprint(machine);
  report.binary_sha256 = sha256_of_file("/proc/self/exe");
  report.revision = git_revision();
  report.libtorch = nn::torch_version();
  report.gpus = cuda.gpus;
  report.cuda_reason = cuda.available ? "" : cuda.reason;
  report.cores = machine.cores;
  report.threads = threads;
  report.memory_bytes = machine.memory_bytes;
  report.window_rows = config.windows.length;
  report.own_batch = config.hyper.train.batch_size;
  report.target_share = o.target_share;
  report.load_before = load_average();
  report.price_per_hour = o.price_per_hour;
  report.task = o.task;
  report.work = work_of(o.task, config);
  return report;
}

std::string identity_of(const BenchReport& report) {
  return nlohmann::ordered_json{{"format", "foxhunt-bench-train-visits"},
                                {"version", 2},
                                {"machine", report.machine_fingerprint},
                                {"cores", report.cores},
                                {"gpus", report.gpus},
                                {"threads", report.threads},
                                {"binary", report.binary_sha256},
                                {"config", report.config_hash}}
      .dump();
}

void add_notes(BenchReport& report) {
  for (const auto& [device, host] : report.host) {
    report.notes.push_back(fmt::format(
        "The speed of {} moved by {:.0f} % while this ran (reference program: {} ms in 95 % of {} "
        "visits). Figures in reference programs, at median speed, and speed-ups have that taken "
        "out; times by the clock do not, and at another load they may lie outside their intervals.",
        device, 100 * host.swing(), figure_text(host.program, 1e3), host.visits));
  }
  if (report.other_cores > kBusy) {
    report.notes.push_back(fmt::format(
        "The machine was busy: others used up to {:.1f} of {} cores while a setting was measured "
        "(load average {:.1f} at the start). Times by the clock are too long and intervals wide; "
        "run it again at a quiet time.",
        report.other_cores, report.cores, report.load_before));
  }
  std::int64_t open = 0;
  for (const BenchedCase& one : report.cases) {
    const Figure& f = one.summary.references;
    if (!one.record.visits.empty() &&
        (f.level < report.level || f.width_share() > report.target_share))
      ++open;
  }
  if (open > 0) {
    report.notes.push_back(fmt::format(
        "{} settings have intervals wider than {:.0f} % or too few visits for {:.0f} %: "
        "more --budget goes on where this ended.",
        open, 100 * report.target_share, 100 * report.level));
  }
}

void write_files(const BenchReport& report, const std::filesystem::path& out) {
  write_file_atomic(out / "bench-train.json", to_json(report));
  write_file_atomic(out / "bench-train.md", to_markdown(report));
  write_file_atomic(out / "bench-train.html", to_html(report));
}

/// Runs what is left to run, each visit into the journal.
void measure(Machine& machine, std::vector<CaseRecord>& records, BenchJournal& journal,
             const RunLimits& limits, ProgressMode mode) {
  std::int64_t visits = 0;
  std::int64_t planned = 0;
  for (const CaseRecord& record : records) {
    if (!record.left_out.empty() || is_done(record, limits)) continue;
    planned += std::max<std::int64_t>(
        limits.least_visits - static_cast<std::int64_t>(record.visits.size()), 1);
  }
  Progress progress(mode, "bench train", "visits", planned);
  RunEvents events;
  events.begins = [&](const BenchCase& which, std::int64_t /*visit*/) {
    progress.update(std::min(visits, planned), which.key());
  };
  events.visited = [&](const CaseRecord& record) {
    journal.add_visit(record);
    ++visits;
  };
  events.left_out = [&](const CaseRecord& record) {
    // What was seen; what follows from budget and memory limit is asked again with others.
    const bool seen =
        record.left_out.rfind("out of memory at", 0) == 0 || record.left_out.rfind("no ", 0) == 0;
    if (seen) journal.add_left_out(record);
    log::info("{}: {}", record.which.key(), record.left_out);
  };
  events.interrupted = [] { return interrupted(); };
  run_cases(machine, records, limits, events);
  progress.finish();
}

}  // namespace

BenchReport bench_train(const ExperimentConfig& config, const TrainBenchOptions& given) {
  const auto start = std::chrono::steady_clock::now();
  config.hyper.validate();
  const nn::CudaReport cuda = nn::cuda_report();
  const TrainBenchOptions options = with_defaults(given, cuda);
  const std::int64_t threads =
      config.hyper.train.threads > 0 ? config.hyper.train.threads : this_machine().cores;
  BenchReport report = describe(config, options, cuda, threads);
  const RunLimits limits{.budget_seconds = options.budget_seconds,
                         .target_share = options.target_share,
                         .level = report.level,
                         .memory_bytes = memory_of(options),
                         .estimate = options.estimate};
  keep_freed_memory();
  Machine machine(config, threads);
  report.features = machine.features();

  make_folder(options.out);
  BenchJournal journal(options.out / "bench-train.visits.jsonl", identity_of(report),
                       options.fresh);
  if (!journal.replaced().empty())
    log::info("bench-train.visits.jsonl of before is kept as .old: {}", journal.replaced());
  std::vector<CaseRecord> records = plan(options, report.own_batch);
  if (const std::int64_t before = journal.restore(records); before > 0)
    log::info("goes on behind {} visits measured before; --fresh measures anew", before);
  if (report.load_before > kBusy * static_cast<double>(report.cores))
    log::warn("load average {:.1f} on {} cores: others are at work", report.load_before,
              report.cores);
  {
    BenchCase smallest{"cpu", "fp32", "native", 1};
    report.parameters = Program(machine.spec_of(smallest)).parameters();
  }
  measure(machine, records, journal, limits, options.progress);

  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.complete = !interrupted();
  derive(report, records, limits.memory_bytes, options.estimate);
  add_notes(report);
  write_files(report, options.out);
  if (!report.complete) {
    throw InterruptedError(
        fmt::format("interrupted; what was measured is in {}, and the same command goes on there",
                    options.out.string()));
  }
  return report;
}

}  // namespace foxhunt::train
