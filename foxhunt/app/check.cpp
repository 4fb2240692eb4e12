// foxhunt check: the same rows through two back ends, an error histogram a tensor; check device:
// where every tensor of a training lies.
#include "foxhunt/nn/check.h"

#include <fmt/format.h>

#include <cstdio>
#include <map>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/base/json.h"
#include "foxhunt/train/device_audit.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::app {
namespace {

struct AuditOptions {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  train::DeviceAuditOptions audit;
  bool all = false;
};

int run_audit(const AuditOptions& options, const Globals& globals) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  const auto audits = train::audit_devices(config, options.audit);
  fmt::print("{}",
             globals.json ? train::to_json(audits) + "\n" : train::to_text(audits, options.all));
  bool passed = true;
  for (const train::DeviceAudit& audit : audits) passed = passed && audit.passed();
  return passed ? 0 : 1;
}

CLI::App* add_audit(CLI::App& sub, AuditOptions& options) {
  CLI::App* device = sub.add_subcommand(
      "device",
      "where every tensor of a training lies and what crosses between devices; exit code 1 names "
      "what lies elsewhere");
  device->fallthrough();
  device->add_option("--config", options.configs, "TOML files of the experiment; default: built in")
      ->check(CLI::ExistingFile);
  device->add_option("--set", options.sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  device
      ->add_option("--device", options.audit.device,
                   "meta: shapes alone, a second, no GPU needed; or cpu, cuda, cuda:INDEX")
      ->capture_default_str();
  device->add_flag("!--no-baseline", options.audit.baseline,
                   "leave out the GRU that evaluation trains beside the model");
  device->add_flag("--all", options.all, "a line a tensor instead of a line a part");
  return device;
}

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  std::string device = "cpu";
  nn::CheckOptions check;
  double bound = 1e-4;
};

void print_text(const nn::BackendCheck& check, const Options& options) {
  fmt::print("{} against {} on {}: values by error, relative to the largest of a tensor\n",
             name_of(options.check.a), name_of(options.check.b), options.check.device.text());
  fmt::print("{:<46} {:>9} {:>9}", "tensor", "largest", "error");
  for (const char* bin : nn::kErrorBins) fmt::print(" {:>7}", bin);
  fmt::print("\n");
  for (const nn::TensorCheck& t : check.tensors) {
    fmt::print("{:<46} {:>9.3g} {:>9.2g}", t.name, t.largest, t.relative_error);
    for (const std::int64_t count : t.histogram) fmt::print(" {:>7}", count);
    fmt::print("\n");
  }
  fmt::print("worst {:.2g}, allowed {:.2g}: {}\n", check.relative_error(), options.bound,
             check.relative_error() <= options.bound ? "equal" : "DIFFERENT");
}

void print_json(const nn::BackendCheck& check, const Options& options) {
  nlohmann::ordered_json out;
  out["a"] = name_of(options.check.a);
  out["b"] = name_of(options.check.b);
  out["device"] = options.check.device.text();
  out["bound"] = options.bound;
  out["relative_error"] = check.relative_error();
  out["passed"] = check.relative_error() <= options.bound;
  out["bins"] = nn::kErrorBins;
  for (const nn::TensorCheck& t : check.tensors) {
    out["tensors"].push_back({{"name", t.name},
                              {"values", t.values},
                              {"largest", t.largest},
                              {"largest_error", t.largest_error},
                              {"relative_error", t.relative_error},
                              {"histogram", t.histogram}});
  }
  fmt::print("{}\n", out.dump(2));
}

int run_check(Options options, const Globals& globals) {
  train::ExperimentConfig config;
  config.hyper.model = model::Mamba2Config::default_hft();
  load_experiment(config, options.configs, options.sets);
  options.check.device = nn::parse_device(options.device);
  const nn::BackendCheck check =
      nn::check_backends(config.hyper.model, model::HeadConfig{}, options.check);
  globals.json ? print_json(check, options) : print_text(check, options);
  return check.relative_error() <= options.bound ? 0 : 1;
}

}  // namespace

Run add_check(CLI::App& sub, const Globals& globals) {
  auto options = std::make_shared<Options>();
  const std::map<std::string, nn::Kernels> names{{"aten", nn::Kernels::kAten},
                                                 {"native", nn::Kernels::kNative}};
  sub.add_option("--a", options->check.a, "first back end: aten or native")
      ->transform(CLI::CheckedTransformer(names))
      ->default_str("aten");
  sub.add_option("--b", options->check.b, "second back end")
      ->transform(CLI::CheckedTransformer(names))
      ->default_str("native");
  add_device_option(sub, options->device);
  sub.add_option("--config", options->configs, "TOML files with the model; default: default_hft")
      ->check(CLI::ExistingFile);
  sub.add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  sub.add_option("--batch", options->check.batch, "windows")->capture_default_str();
  sub.add_option("--tokens", options->check.tokens, "rows of a window")->capture_default_str();
  sub.add_option("--seed", options->check.seed, "of weights and rows")->capture_default_str();
  sub.add_option("--bound", options->bound, "largest relative error that counts as equal")
      ->capture_default_str();
  sub.require_subcommand(0, 1);
  sub.add_subcommand("backends", "what `check` does without a subcommand: the options above")
      ->fallthrough();
  auto audit = std::make_shared<AuditOptions>();
  CLI::App* device = add_audit(sub, *audit);
  return [options, audit, device, &globals] {
    return device->parsed() ? run_audit(*audit, globals) : run_check(*options, globals);
  };
}

}  // namespace foxhunt::app
