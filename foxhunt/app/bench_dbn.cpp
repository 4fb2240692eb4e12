#include "foxhunt/app/bench_dbn.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/base/json.h"
#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/columns/bench_dbn.h"

namespace foxhunt::app {
namespace {

namespace fs = std::filesystem;
using columns::BenchDbnRow;

/// Where scripts/setup --dbn-peer puts the official decoder.
fs::path default_python() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  const char* home = std::getenv("HOME");
  fs::path base = cache != nullptr && *cache != '\0'
                      ? fs::path(cache)
                      : fs::path(home != nullptr ? home : "") / ".cache";
  return base / "foxhunt/databento-dbn/bin/python";
}

/// Leaves both paths empty, with a word of what is missing, where the peer cannot be started.
void find_peer(columns::BenchDbnOptions& bench) {
  for (const fs::path& path : {bench.peer_python, bench.peer_script}) {
    if (fs::exists(path)) continue;
    log::warn(
        "{} is not there: the official decoder is left out (scripts/setup --dbn-peer installs "
        "it; run from the project's folder, or name --peer-python and --peer-script)",
        path.string());
    bench.peer_python.clear();
    bench.peer_script.clear();
    return;
  }
}

void print_row(const BenchDbnRow& row) {
  fmt::print("{:<44} {:<12} {:>10.2f} {:>9.0f} {:>10} {:>8} {:>9.2f}\n", row.file, row.way,
             row.records_per_s / 1e6, static_cast<double>(row.plain_bytes) / row.seconds / 1e6,
             row.peer_records_per_s ? fmt::format("{:.2f}", *row.peer_records_per_s / 1e6) : "-",
             row.times_peer ? fmt::format("{:.2f}", *row.times_peer) : "-", row.times_zstd);
  std::fflush(stdout);
}

nlohmann::ordered_json json_of(const BenchDbnRow& row) {
  nlohmann::ordered_json out{{"file", row.file},
                             {"way", row.way},
                             {"records", row.records},
                             {"plain_bytes", row.plain_bytes},
                             {"seconds", row.seconds},
                             {"records_per_s", row.records_per_s},
                             {"peer_records_per_s", nullptr},
                             {"times_peer", nullptr},
                             {"zstd_only_s", row.zstd_only_s},
                             {"times_zstd", row.times_zstd}};
  if (row.peer_records_per_s) out["peer_records_per_s"] = *row.peer_records_per_s;
  if (row.times_peer) out["times_peer"] = *row.times_peer;
  return out;
}

int run(columns::BenchDbnOptions bench, const Globals& globals) {
  find_peer(bench);
  if (!globals.json) {
    fmt::print("{}; one core, medians of {}\n{:<44} {:<12} {:>10} {:>9} {:>10} {:>8} {:>9}\n",
               this_machine().cpu_model, bench.repeats, "file", "way", "Mrecord/s", "MB/s",
               "peer Mr/s", "x peer", "x zstd");
  }
  const auto rows = columns::bench_dbn(bench, [&](const BenchDbnRow& row) {
    if (!globals.json) print_row(row);
  });
  if (!globals.json) return 0;
  nlohmann::ordered_json out{{"cpu", this_machine().cpu_model}, {"repeats", bench.repeats}};
  for (const BenchDbnRow& row : rows) out["rows"].push_back(json_of(row));
  fmt::print("{}\n", out.dump(2));
  return 0;
}

}  // namespace

Run add_dbn_bench(CLI::App& sub, const Globals& globals) {
  auto bench = std::make_shared<columns::BenchDbnOptions>();
  bench->peer_python = default_python();
  bench->peer_script = "bench/peers/dbn/peer.py";
  sub.fallthrough();
  sub.add_option("files", bench->files, "DBN, plain or zstd")->required()->check(CLI::ExistingFile);
  sub.add_option("--repeats", bench->repeats, "timed turns")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sub.add_option("--least-records", bench->least_records,
                 "a file with fewer is repeated until it has as many")
      ->check(CLI::Range(1, 1'000'000'000))
      ->capture_default_str();
  sub.add_option("--core", bench->core, "for both programs; default: the last one allowed")
      ->check(CLI::Range(0, 4095));
  sub.add_option("--peer-python", bench->peer_python, "a Python that has databento-dbn")
      ->capture_default_str();
  sub.add_option("--peer-script", bench->peer_script, "what it runs")->capture_default_str();
  return [bench, &globals] { return run(*bench, globals); };
}

}  // namespace foxhunt::app
