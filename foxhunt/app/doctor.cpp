// foxhunt doctor: CPU, instruction sets, caches, read rates, memory, LibTorch, CUDA or why not; and
// what follows from them, with reasons.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/build_info.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/base/time.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/hardware/machine_record.h"
#include "foxhunt/kernels/hardware_aware.h"
#include "foxhunt/kernels/latency_budget.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/device.h"
#include "foxhunt/nn/model_sizes.h"

namespace foxhunt::app {
namespace {

using Json = nlohmann::ordered_json;

struct Options {
  bool measure = false;
  double budget_us = 5.0;
};

/// A model and a batch that the choices are shown for.
struct Example {
  const char* name;
  kernels::ModelSizes sizes;
  std::int64_t batch;
  std::int64_t window;
};

struct Findings {
  Machine machine;
  kernels::RecordResult record;
  kernels::Hardware hardware;
  kernels::Choice<std::string> table;
  kernels::LatencyFit latency;
  nn::CudaReport cuda;
};

std::vector<Example> examples() {
  return {{"default_hft", nn::sizes_of(model::Mamba2Config::default_hft()), 32, 128},
          {"standard", nn::sizes_of(model::Mamba2Config::standard()), 8, 512}};
}

Findings find(const Options& options) {
  Findings found;
  found.machine = this_machine();
  const kernels::RecordRequest request{
      .folder = kernels::record_folder(std::getenv("XDG_CACHE_HOME"), std::getenv("HOME")),
      .now = to_string(std::chrono::floor<std::chrono::seconds>(now())),
      .measure_anew = options.measure};
  found.record = kernels::machine_record(
      found.machine, request, [&found] { return kernels::measure_bandwidth(found.machine); });
  found.hardware = kernels::read_hardware(found.machine, found.record.record.bandwidth);
  const char* forced = std::getenv("FOXHUNT_FORCE_ISA");
  found.table = kernels::choose_kernels(found.hardware, kernels::runnable_kernels(),
                                        forced == nullptr ? "" : forced);
  found.latency = kernels::model_for_budget(found.hardware, options.budget_us);
  found.cuda = nn::cuda_report();
  return found;
}

// ---- JSON --------------------------------------------------------------------------------------

template <class T>
Json json_of(const kernels::Choice<T>& choice) {
  return {{"value", choice.value}, {"reason", choice.reason}};
}

Json json_of(const kernels::ModelFit& fit) {
  return {{"d_model", fit.sizes.d_model},
          {"n_layer", fit.sizes.n_layer},
          {"parameters", fit.cost.parameters},
          {"state_floats", fit.cost.state_floats},
          {"moved_bytes", fit.cost.moved_bytes},
          {"resident_bytes", fit.cost.resident_bytes},
          {"floor_us", fit.floor_us},
          {"realistic_us", fit.realistic_us},
          {"in_l2", fit.in_l2}};
}

Json json_of(const std::optional<kernels::ModelFit>& fit) {
  return fit ? json_of(*fit) : Json(nullptr);
}

Json bandwidth_json(const Findings& found) {
  const kernels::Bandwidth& rates = found.hardware.bandwidth;
  Json out;
  const auto add = [&out](const char* name, const kernels::ReadRate& rate) {
    if (rate.median > 0.0)
      out[name] = {{"gb_per_s", rate.median},
                   {"best_gb_per_s", rate.best},
                   {"spread", rate.spread},
                   {"working_set_bytes", rate.bytes}};
  };
  add("l1", rates.l1);
  add("l2", rates.l2);
  add("l3", rates.l3);
  add("dram", rates.dram);
  out["measured_at"] = found.record.record.measured_at;
  out["measured_now"] = found.record.measured;
  out["stored_in"] = found.record.path.string();
  out["note"] = found.record.note;
  out["doubts"] = found.hardware.doubts;
  return out;
}

Json choices_json(const Findings& found) {
  Json out;
  out["kernels"] = json_of(found.table);
  for (const Example& example : examples()) {
    out[example.name] = {{"batch", example.batch},
                         {"window", example.window},
                         {"chunk", json_of(choose_chunk(found.hardware, example.sizes))},
                         {"lanes", json_of(choose_lanes(found.hardware, example.sizes,
                                                        example.batch, example.window))}};
  }
  const kernels::LatencyFit& fit = found.latency;
  out["latency"] = {{"budget_us", fit.budget_us},
                    {"floor_gb_per_s", fit.floor_gb_per_s},
                    {"realistic_gb_per_s", fit.realistic_gb_per_s},
                    {"most_resident_bytes", fit.most_resident_bytes},
                    {"default_hft", json_of(fit.example)},
                    {"widest", json_of(fit.widest)},
                    {"deepest", json_of(fit.deepest)},
                    {"widest_at_floor", json_of(fit.widest_at_floor)},
                    {"deepest_at_floor", json_of(fit.deepest_at_floor)},
                    {"reason", fit.reason}};
  return out;
}

Json json_of(const Findings& found) {
  const Machine& machine = found.machine;
  Json out;
  out["version"] = version();
  out["revision"] = git_revision();
  out["cpu"] = {{"model", machine.cpu_model},
                {"vendor", machine.vendor},
                {"family", machine.family},
                {"model_number", machine.model},
                {"stepping", machine.stepping},
                {"fingerprint", found.record.record.fingerprint},
                {"cores", machine.cores},
                {"usable_cores", machine.usable_cores},
                {"threads_per_core", machine.threads_per_core},
                {"instruction_sets", machine.instruction_sets}};
  for (const Cache& cache : machine.caches) {
    out["cpu"]["caches"][cache.name] = cache.bytes;
    out["cpu"]["cache_sharers"][cache.name] = cache.sharers;
  }
  out["memory_bytes"] = machine.memory_bytes;
  out["bandwidth"] = bandwidth_json(found);
  out["choices"] = choices_json(found);
  out["libtorch"] = {{"version", nn::torch_version()}, {"threads", nn::torch_threads()}};
  out["cuda"] = {{"available", found.cuda.available}, {"gpus", found.cuda.gpus}};
  if (!found.cuda.available) out["cuda"]["reason"] = found.cuda.reason;
  return out;
}

// ---- text --------------------------------------------------------------------------------------

void print_bandwidth(const Findings& found) {
  const kernels::Bandwidth& rates = found.hardware.bandwidth;
  std::vector<std::string> texts;
  const auto add = [&texts](const char* name, const kernels::ReadRate& rate) {
    if (rate.median > 0.0)
      texts.push_back(fmt::format("{} {:.0f} ({})", name, rate.median, format_bytes(rate.bytes)));
  };
  add("L1", rates.l1);
  add("L2", rates.l2);
  add("L3", rates.l3);
  add("DRAM", rates.dram);
  fmt::print("reads      {} GB/s, one core (working set)\n", fmt::join(texts, ", "));
  fmt::print(
      "           measured {}{}\n", found.record.record.measured_at,
      found.record.path.empty() ? "" : fmt::format(", kept in {}", found.record.path.string()));
  if (!found.record.note.empty()) fmt::print("           {}\n", found.record.note);
  if (!found.hardware.doubts.empty())
    fmt::print("           noisy: {}; --measure measures again\n", found.hardware.doubts);
}

double thousands(std::int64_t count) { return static_cast<double>(count) / 1e3; }

std::string text_of(const std::optional<kernels::ModelFit>& fit, double kernels::ModelFit::*us) {
  if (!fit) return "none";
  return fmt::format("d_model {}, {} layers, {:.0f}k parameters ({:.1f} us)", fit->sizes.d_model,
                     fit->sizes.n_layer, thousands(fit->cost.parameters), (*fit).*us);
}

void print_choices(const Findings& found) {
  fmt::print("\nkernels    {}: {}\n", found.table.value, found.table.reason);
  for (const Example& example : examples()) {
    const auto chunk = choose_chunk(found.hardware, example.sizes);
    const auto lanes = choose_lanes(found.hardware, example.sizes, example.batch, example.window);
    fmt::print("{} (d_model {}, {} layers, d_state {}), {} windows of {} rows\n", example.name,
               example.sizes.d_model, example.sizes.n_layer, example.sizes.d_state, example.batch,
               example.window);
    fmt::print("  chunk    {}: {}\n", chunk.value, chunk.reason);
    fmt::print("  lanes    {}: {}\n", lanes.value, lanes.reason);
  }
  const kernels::LatencyFit& fit = found.latency;
  fmt::print("within {} us on one core, caches warm: {}\n", fit.budget_us, fit.reason);
  fmt::print(
      "  default_hft  {:.0f}k parameters move {} a step: {:.1f} us at best, {:.1f} us to count "
      "on{}\n",
      thousands(fit.example.cost.parameters), format_bytes(fit.example.cost.moved_bytes),
      fit.example.floor_us, fit.example.realistic_us,
      fit.example.in_l2 ? "" : "; too large for half of L2, so slower");
  using Fit = kernels::ModelFit;
  fmt::print("  to count on  {}; or {}\n", text_of(fit.widest, &Fit::realistic_us),
             text_of(fit.deepest, &Fit::realistic_us));
  fmt::print("  at best      {}; or {}\n", text_of(fit.widest_at_floor, &Fit::floor_us),
             text_of(fit.deepest_at_floor, &Fit::floor_us));
}

void print_text(const Findings& found) {
  const Machine& machine = found.machine;
  std::vector<std::string> cache_texts;
  for (const Cache& cache : machine.caches) {
    cache_texts.push_back(fmt::format("{} {}", cache.name, format_bytes(cache.bytes)));
    if (cache.sharers > 1) cache_texts.back() += fmt::format(" (of {} CPUs)", cache.sharers);
  }
  fmt::print("foxhunt    {} ({}, {}, {})\n", version(), git_revision(), compiler(), build_type());
  fmt::print("CPU        {} (family {}, model {}), {} cores, {} usable\n", machine.cpu_model,
             machine.family, machine.model, machine.cores, machine.usable_cores);
  fmt::print("           {}\n", fmt::join(machine.instruction_sets, " "));
  fmt::print("caches     {}\n", fmt::join(cache_texts, ", "));
  print_bandwidth(found);
  fmt::print("memory     {}\n", format_bytes(machine.memory_bytes));
  fmt::print("LibTorch   {}, {} threads an operation\n", nn::torch_version(), nn::torch_threads());
  if (found.cuda.available) {
    fmt::print("CUDA       {}\n", fmt::join(found.cuda.gpus, ", "));
  } else {
    fmt::print("CUDA       not available: {}\n", found.cuda.reason);
  }
  print_choices(found);
}

int run_doctor(const Options& options, const Globals& globals) {
  const Findings found = find(options);
  if (globals.json) {
    fmt::print("{}\n", json_of(found).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print_text(found);
  }
  return 0;
}

}  // namespace

Run add_doctor(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_flag("--measure", options->measure,
               "measure the read rates again, whatever is stored in the cache folder");
  sub.add_option("--budget-us", options->budget_us,
                 "latency of one step that a model is to fit, in microseconds")
      ->capture_default_str();
  return [options, &globals] { return run_doctor(*options, globals); };
}

}  // namespace foxhunt::app
