#include "foxhunt/experiments/tune_state.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"

namespace foxhunt::experiments {
namespace {

using Json = nlohmann::ordered_json;
constexpr int kVersion = 1;

Json to_json(const Trial& trial) {
  Json rungs = Json::array();
  for (const RungResult& r : trial.rungs) {
    rungs.push_back(
        {{"epochs", r.epochs}, {"loss", r.loss}, {"best_epoch", r.best_epoch}, {"ended", r.ended}});
  }
  return {{"index", trial.index},      {"values", trial.values},
          {"rungs", std::move(rungs)}, {"weights_sha256", trial.weights_sha256},
          {"error", trial.error},      {"seconds", trial.seconds}};
}

Trial trial_of(const Json& json) {
  Trial trial{.index = json.at("index"),
              .values = json.at("values"),
              .rungs = {},
              .weights_sha256 = json.at("weights_sha256"),
              .error = json.at("error"),
              .seconds = json.at("seconds")};
  for (const Json& r : json.at("rungs")) {
    trial.rungs.push_back({.epochs = r.at("epochs"),
                           .loss = r.at("loss"),
                           .best_epoch = r.at("best_epoch"),
                           .ended = r.at("ended")});
  }
  return trial;
}

}  // namespace

const RungResult* Trial::at(std::int64_t epochs) const {
  if (!error.empty()) return nullptr;
  for (const RungResult& r : rungs) {
    if (r.epochs == epochs || (r.ended && r.epochs < epochs)) return &r;
  }
  return nullptr;
}

std::string TuneState::to_json() const {
  Json list = Json::array();
  for (const Trial& trial : trials) list.push_back(experiments::to_json(trial));
  return Json{{"version", kVersion},
              {"config_sha256", config_sha256},
              {"ranges", ranges},
              {"trials", std::move(list)}}
             .dump(2, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

TuneState TuneState::from_json(const std::string& text, const std::string& name) {
  try {
    const Json json = Json::parse(text);
    if (json.at("version") != kVersion) {
      throw ConfigError(fmt::format("{}: has version {}, this program writes {}", name,
                                    json.at("version").dump(), kVersion));
    }
    TuneState state{
        .config_sha256 = json.at("config_sha256"), .ranges = json.at("ranges"), .trials = {}};
    for (const Json& trial : json.at("trials")) state.trials.push_back(trial_of(trial));
    return state;
  } catch (const Json::exception& error) {
    throw FormatError(fmt::format("{}: {}", name, error.what()));
  }
}

}  // namespace foxhunt::experiments
