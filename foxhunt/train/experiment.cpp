#include "foxhunt/train/experiment.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/train/labels.h"

namespace foxhunt::train {

ExperimentConfig ExperimentConfig::single_run() const {
  ExperimentConfig copy = *this;
  copy.walkforward = {};
  copy.tune = {};
  return copy;
}

std::optional<features::BookFeatureConfig> ExperimentConfig::book_settings() const {
  if (data.records == RecordChoice::kBars) return std::nullopt;
  return book;
}

std::vector<std::string> ExperimentConfig::errors() const {
  ExperimentConfig copy = *this;
  std::vector<std::string> all = config::range_errors(config::fields_of(copy));
  for (auto& error : hyper.errors()) {
    if (std::find(all.begin(), all.end(), error) == all.end()) all.push_back(std::move(error));
  }
  if (data.files.empty())
    all.emplace_back("data.files is empty: name at least one DBN or CSV file");
  try {
    market::contract_for_product(data.product);
  } catch (const ConfigError& error) {
    all.push_back(fmt::format("data.product: {}", error.what()));
  }
  if (bundle::is_class(label.kind) && hyper.head.kind != HeadChoice::kAuto) {
    all.emplace_back("head.kind must be auto with label.kind = direction or barrier");
  }
  for (auto& error : label_errors(label)) all.push_back(std::move(error));
  return all;
}

void load_experiment(ExperimentConfig& config, const std::vector<std::string>& files,
                     const std::vector<std::string>& overrides) {
  config::FieldList list = config::fields_of(config);
  for (const std::string& file : files) config::load_toml_file(list, file);
  for (const std::string& assignment : overrides) config::apply_override(list, assignment);
}

}  // namespace foxhunt::train
