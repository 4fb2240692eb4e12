// foxhunt doctor: CPU, instruction sets, caches, memory, LibTorch, CUDA or why not.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/build_info.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/nn/device.h"

namespace foxhunt::app {
namespace {

int run_doctor(const Globals& globals) {
  const nn::CudaReport cuda = nn::cuda_report();
  const Machine machine = this_machine();
  if (globals.json) {
    nlohmann::ordered_json out;
    out["version"] = version();
    out["revision"] = git_revision();
    out["cpu"] = {{"model", machine.cpu_model},
                  {"cores", machine.cores},
                  {"instruction_sets", machine.instruction_sets}};
    for (const Cache& cache : machine.caches) out["cpu"]["caches"][cache.name] = cache.bytes;
    out["memory_bytes"] = machine.memory_bytes;
    out["libtorch"] = {{"version", nn::torch_version()}, {"threads", nn::torch_threads()}};
    out["cuda"] = {{"available", cuda.available}, {"gpus", cuda.gpus}};
    if (!cuda.available) out["cuda"]["reason"] = cuda.reason;
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  std::vector<std::string> cache_texts;
  for (const Cache& cache : machine.caches)
    cache_texts.push_back(fmt::format("{} {}", cache.name, format_bytes(cache.bytes)));
  fmt::print("foxhunt    {} ({}, {}, {})\n", version(), git_revision(), compiler(), build_type());
  fmt::print("CPU        {}, {} cores\n", machine.cpu_model, machine.cores);
  fmt::print("           {}\n", fmt::join(machine.instruction_sets, " "));
  fmt::print("caches     {}\n", fmt::join(cache_texts, ", "));
  fmt::print("memory     {}\n", format_bytes(machine.memory_bytes));
  fmt::print("LibTorch   {}, {} threads an operation\n", nn::torch_version(), nn::torch_threads());
  if (cuda.available) {
    fmt::print("CUDA       {}\n", fmt::join(cuda.gpus, ", "));
  } else {
    fmt::print("CUDA       not available: {}\n", cuda.reason);
  }
  return 0;
}

}  // namespace

Run add_doctor(CLI::App&, const Globals& globals) {
  return [&globals] { return run_doctor(globals); };
}

}  // namespace foxhunt::app
