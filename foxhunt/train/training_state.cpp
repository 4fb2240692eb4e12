#include "foxhunt/train/training_state.h"

#include <fmt/format.h>

#include <cmath>

#include "foxhunt/base/error.h"
#include "foxhunt/base/json.h"
#include "foxhunt/base/json_check.h"

namespace foxhunt::train {
namespace {

/// JSON has no infinity: the loss before the first epoch is null.
nlohmann::ordered_json loss_json(double loss) {
  return std::isfinite(loss) ? nlohmann::ordered_json(loss) : nlohmann::ordered_json();
}
double loss_of(const nlohmann::json& json) {
  return json.is_null() ? std::numeric_limits<double>::infinity() : json.get<double>();
}

nlohmann::ordered_json sums_json(const EpochSums& sums) {
  return {{"loss", sums.loss},         {"weight", sums.weight}, {"norm", sums.norm},
          {"norm_max", sums.norm_max}, {"lr", sums.lr},         {"seconds", sums.seconds},
          {"rows", sums.rows},         {"good", sums.good},     {"skipped", sums.skipped}};
}

EpochSums sums_of(const nlohmann::json& in) {
  return {.loss = in.at("loss"),
          .weight = in.at("weight"),
          .norm = in.at("norm"),
          .norm_max = in.at("norm_max"),
          .lr = in.at("lr"),
          .seconds = in.at("seconds"),
          .rows = in.at("rows"),
          .good = in.at("good"),
          .skipped = in.at("skipped")};
}

}  // namespace

std::string TrainingState::to_json() const {
  const nlohmann::ordered_json out{{"epoch", epoch},
                                   {"windows", windows},
                                   {"epochs", epochs},
                                   {"epoch_closed", epoch_closed},
                                   {"step", step},
                                   {"skipped_steps", skipped_steps},
                                   {"bad_steps_in_a_row", bad_steps_in_a_row},
                                   {"epochs_without_gain", epochs_without_gain},
                                   {"best_epoch", best_epoch},
                                   {"best_valid_loss", loss_json(best_valid_loss)},
                                   {"sums", sums_json(sums)},
                                   {"is_best", is_best},
                                   {"metrics_bytes", metrics_bytes},
                                   {"seconds", seconds},
                                   {"seed", seed},
                                   {"threads", threads},
                                   {"weights_sha256", weights_sha256}};
  return out.dump(2) + "\n";
}

TrainingState TrainingState::from_json(const std::string& text) {
  if (const std::string problem = json_problem(text); !problem.empty())
    throw FormatError(fmt::format("state.json {}", problem));
  try {
    const auto in = nlohmann::json::parse(text);
    return {.epoch = in.at("epoch"),
            .windows = in.at("windows"),
            .epochs = in.at("epochs"),
            .epoch_closed = in.at("epoch_closed"),
            .step = in.at("step"),
            .skipped_steps = in.at("skipped_steps"),
            .bad_steps_in_a_row = in.at("bad_steps_in_a_row"),
            .epochs_without_gain = in.at("epochs_without_gain"),
            .best_epoch = in.at("best_epoch"),
            .best_valid_loss = loss_of(in.at("best_valid_loss")),
            .sums = sums_of(in.at("sums")),
            .is_best = in.at("is_best"),
            .metrics_bytes = in.at("metrics_bytes"),
            .seconds = in.at("seconds"),
            .seed = in.at("seed"),
            .threads = in.at("threads"),
            .weights_sha256 = in.at("weights_sha256")};
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("state.json: {}", error.what()));
  }
}

}  // namespace foxhunt::train
