// Options that several verbs share.
#include <fmt/format.h>

#include <cstdio>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"

namespace foxhunt::app {

void add_device_option(CLI::App& sub, std::string& device) {
  sub.add_option("--device", device,
                 "cpu, cuda or cuda:INDEX; one that is not there is an error, never a fall-back")
      ->capture_default_str();
}

void add_pause_option(CLI::App& sub, std::int64_t& epoch) {
  sub.add_option("--pause-after-epoch", epoch,
                 "stop when this epoch (from 1) is saved; foxhunt resume goes on")
      ->check(CLI::PositiveNumber);
}

void print_page(const std::filesystem::path& run, const Globals& globals) {
  const std::filesystem::path page = run / "report.html";
  if (!globals.json && std::filesystem::exists(page)) fmt::print("report  {}\n", page.string());
}

ProgressMode progress_mode(const Globals& globals) {
  return globals.quiet ? ProgressMode::kOff : ProgressMode::kAuto;
}

}  // namespace foxhunt::app
