#include "foxhunt/train/hyperparameters.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/config/config.h"
#include "foxhunt/train/memory/byte_size.h"

namespace foxhunt::train {
namespace {

std::vector<std::string> head_errors(const HeadSection& head) {
  std::vector<std::string> errors;
  if (head.kind != HeadChoice::kQuantiles) return errors;
  if (head.quantiles.empty())
    errors.emplace_back("head.quantiles is empty, but head.kind is quantiles");
  for (std::size_t i = 0; i < head.quantiles.size(); ++i) {
    const double q = head.quantiles[i];
    if (q <= 0.0 || q >= 1.0)
      errors.push_back(fmt::format("head.quantiles has {}, but must lie inside (0, 1)", q));
    if (i > 0 && q <= head.quantiles[i - 1]) errors.emplace_back("head.quantiles must increase");
  }
  return errors;
}

/// exp(-x) rounds to 1 in float32 for x below 2^-25: a state would never decay.
constexpr double kSmallestDecay = 0x1p-24;

std::vector<std::string> train_errors(const TrainConfig& train, double dt_limit_min) {
  std::vector<std::string> errors;
  if (train.micro_batch > train.batch_size) {
    errors.push_back(fmt::format("train.micro_batch = {} is larger than train.batch_size = {}",
                                 train.micro_batch, train.batch_size));
  }
  try {
    parse_byte_size(train.memory_budget);
  } catch (const ConfigError& error) {
    errors.push_back(fmt::format("train.memory_budget: {}", error.what()));
  }
  if (train.a_min >= train.a_max) {
    errors.push_back(
        fmt::format("train.a_min = {} must be below train.a_max = {}", train.a_min, train.a_max));
  }
  if (dt_limit_min * train.a_min < kSmallestDecay) {
    errors.push_back(
        fmt::format("model.dt_limit_min * train.a_min = {:.3g} is below {:.3g}: exp(dt A) could be "
                    "1 in float32 and a state would never "
                    "decay",
                    dt_limit_min * train.a_min, kSmallestDecay));
  }
  return errors;
}

}  // namespace

model::Mamba2Config Mamba2Hyperparameters::training_default() {
  model::Mamba2Config config = model::Mamba2Config::default_hft();
  config.dt_limit_min = 1e-6;
  config.dt_limit_max = 1.0;
  return config;
}

Mamba2Hyperparameters Mamba2Hyperparameters::from_model_config(const model::Mamba2Config& config) {
  Mamba2Hyperparameters hyper;
  hyper.model = config;
  return hyper;
}

model::HeadConfig Mamba2Hyperparameters::to_head_config(std::int64_t n_features,
                                                        bundle::LabelKind label) const {
  model::HeadConfig config{.n_features = n_features};
  if (head.kind == HeadChoice::kAuto && bundle::is_class(label)) {
    config.kind = model::HeadKind::kClassification;
    config.n_classes = 3;
  } else if (head.kind == HeadChoice::kQuantiles) {
    config.kind = model::HeadKind::kQuantiles;
    config.quantiles = head.quantiles;
  } else {
    config.kind = model::HeadKind::kRegression;
  }
  return config;
}

std::vector<std::string> Mamba2Hyperparameters::errors() const {
  Mamba2Hyperparameters copy = *this;
  std::vector<std::string> all = config::range_errors(config::fields_of(copy));
  for (const std::string& error : model.errors()) {
    const std::string named = "model." + error;
    if (std::find(all.begin(), all.end(), named) == all.end()) all.push_back(named);
  }
  for (auto& error : head_errors(head)) all.push_back(std::move(error));
  for (auto& error : train_errors(train, model.dt_limit_min)) all.push_back(std::move(error));
  return all;
}

void Mamba2Hyperparameters::validate() const {
  const std::vector<std::string> all = errors();
  if (!all.empty())
    throw ConfigError(fmt::format("[hyperparameters] {}", fmt::join(all, "\n[hyperparameters] ")));
}

double Mamba2Hyperparameters::spectral_radius_bound() const {
  return std::exp(-model.dt_limit_min * train.a_min);
}

}  // namespace foxhunt::train
