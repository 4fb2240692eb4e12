// foxhunt report: the page of a run, or of several beside each other.
#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"
#include "foxhunt/report/page.h"

namespace foxhunt::app {
namespace {

namespace fs = std::filesystem;

struct Options {
  std::vector<std::string> runs;
  std::string out;
};

int run_report(const Options& options, const Globals& globals) {
  const std::vector<fs::path> runs(options.runs.begin(), options.runs.end());
  const bool one = runs.size() == 1;
  const fs::path out = !options.out.empty() ? fs::path(options.out)
                       : one                ? runs.front() / "report.html"
                                            : fs::path("comparison.html");
  write_file_atomic(out, one ? report::run_page(runs.front()) : report::comparison_page(runs));
  if (!globals.json) {
    fmt::print("{}\n", out.string());
    return 0;
  }
  nlohmann::ordered_json json{{"report", out.string()}, {"runs", nlohmann::ordered_json::array()}};
  for (const fs::path& run : runs)
    json["runs"].push_back(nlohmann::ordered_json::parse(report::headline_json(run)));
  fmt::print("{}\n", json.dump(2));
  return 0;
}

}  // namespace

Run add_report(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  sub.add_option("runs", options->runs,
                 "run folders, also of runs that still train; several: a page that compares them")
      ->required()
      ->check(CLI::ExistingDirectory);
  sub.add_option(
      "--out", options->out,
      "the page; default: report.html in the run folder, comparison.html here for several");
  return [options, &globals] { return run_report(*options, globals); };
}

}  // namespace foxhunt::app
