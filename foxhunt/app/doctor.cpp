// foxhunt doctor: CPU, instruction sets, caches, memory, LibTorch, CUDA or why not.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/build_info.h"
#include "foxhunt/base/progress.h"
#include "foxhunt/nn/device.h"

namespace foxhunt::app {
namespace {

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) == 0) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

std::vector<std::string> instruction_sets() {
  std::vector<std::string> found;
  const auto add = [&found](const char* name, bool here) {
    if (here) found.emplace_back(name);
  };
#if defined(__x86_64__)
  __builtin_cpu_init();
  add("sse4.2", __builtin_cpu_supports("sse4.2"));
  add("avx2", __builtin_cpu_supports("avx2"));
  add("fma", __builtin_cpu_supports("fma"));
  add("avx512f", __builtin_cpu_supports("avx512f"));
  add("avx512bw", __builtin_cpu_supports("avx512bw"));
  add("avx512vl", __builtin_cpu_supports("avx512vl"));
  add("avx512_vnni", __builtin_cpu_supports("avx512vnni"));
  add("avx512_bf16", __builtin_cpu_supports("avx512bf16"));
#endif
  return found;
}

struct Cache {
  const char* name;
  long bytes;
};

std::vector<Cache> caches() {
  std::vector<Cache> found;
  for (const Cache& cache : {Cache{"L1d", ::sysconf(_SC_LEVEL1_DCACHE_SIZE)}, Cache{"L2", ::sysconf(_SC_LEVEL2_CACHE_SIZE)},
                             Cache{"L3", ::sysconf(_SC_LEVEL3_CACHE_SIZE)}}) {
    if (cache.bytes > 0) found.push_back(cache);
  }
  return found;
}

int run_doctor(const Globals& globals) {
  const nn::CudaReport cuda = nn::cuda_report();
  const long cores = ::sysconf(_SC_NPROCESSORS_ONLN);
  const std::int64_t memory = static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES)) * ::sysconf(_SC_PAGESIZE);
  if (globals.json) {
    nlohmann::ordered_json out;
    out["version"] = version();
    out["revision"] = git_revision();
    out["cpu"] = {{"model", cpu_model()}, {"cores", cores}, {"instruction_sets", instruction_sets()}};
    for (const Cache& cache : caches()) out["cpu"]["caches"][cache.name] = cache.bytes;
    out["memory_bytes"] = memory;
    out["libtorch"] = {{"version", nn::torch_version()}, {"threads", nn::torch_threads()}};
    out["cuda"] = {{"available", cuda.available}, {"gpus", cuda.gpus}};
    if (!cuda.available) out["cuda"]["reason"] = cuda.reason;
    fmt::print("{}\n", out.dump(2));
    return 0;
  }
  std::vector<std::string> cache_texts;
  for (const Cache& cache : caches()) cache_texts.push_back(fmt::format("{} {}", cache.name, format_bytes(cache.bytes)));
  fmt::print("foxhunt    {} ({}, {}, {})\n", version(), git_revision(), compiler(), build_type());
  fmt::print("CPU        {}, {} cores\n", cpu_model(), cores);
  fmt::print("           {}\n", fmt::join(instruction_sets(), " "));
  fmt::print("caches     {}\n", fmt::join(cache_texts, ", "));
  fmt::print("memory     {}\n", format_bytes(memory));
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

void add_device_option(CLI::App& sub, std::string& device) {
  sub.add_option("--device", device, "cpu, cuda or cuda:INDEX; one that is not there is an error, never a fall-back")
      ->capture_default_str();
}

}  // namespace foxhunt::app
