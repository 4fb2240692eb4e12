// foxhunt config show | schema | keys: what a configuration resolves to, and what it may hold.
#include "foxhunt/config/config.h"

#include <fmt/format.h>

#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "foxhunt/app/command.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::app {
namespace {

struct Options {
  std::vector<std::string> configs;
  std::vector<std::string> sets;
  bool markdown = false;
  bool comments = false;
};

int show(const Options& options) {
  train::ExperimentConfig config;
  load_experiment(config, options.configs, options.sets);
  fmt::print("# sha256 {}\n{}", config::hash_of(config), config::dump(config, options.comments));
  return 0;
}

int schema() {
  train::ExperimentConfig config;
  fmt::print("{}\n", config::json_schema(config::fields_of(config), "foxhunt experiment"));
  return 0;
}

int keys(const Options& options) {
  train::ExperimentConfig config;
  const config::FieldList list = config::fields_of(config);
  fmt::print("{}", options.markdown ? config::help_markdown(list) : config::help_text(list));
  return 0;
}

}  // namespace

Run add_config(CLI::App& sub, const Globals&) {
  auto options = std::make_shared<Options>();
  auto run = std::make_shared<Run>();
  sub.require_subcommand(1);
  CLI::App* show_sub = sub.add_subcommand("show", "every key with its value, defaults included");
  show_sub->fallthrough();
  show_sub->add_option("--config", options->configs, "TOML files, merged in order")
      ->check(CLI::ExistingFile);
  show_sub->add_option("--set", options->sets, "section.key=value, over the files")
      ->allow_extra_args(false);
  show_sub->add_flag("--comments", options->comments, "what each key means, beside it");
  show_sub->callback([=] { *run = [options] { return show(*options); }; });
  CLI::App* schema_sub = sub.add_subcommand("schema", "JSON Schema of a configuration file");
  schema_sub->callback([=] { *run = schema; });
  CLI::App* keys_sub =
      sub.add_subcommand("keys", "every key with type, default, range and meaning");
  keys_sub->add_flag("--markdown", options->markdown, "as the page docs/configuration.md");
  keys_sub->callback([=] { *run = [options] { return keys(*options); }; });
  return [run] { return (*run)(); };
}

}  // namespace foxhunt::app
