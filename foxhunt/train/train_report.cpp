#include "foxhunt/train/train_report.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/base/file.h"
#include "foxhunt/base/json.h"

namespace foxhunt::train {

std::string to_json(const TrainReport& report) {
  const nlohmann::ordered_json out{{"run", report.run.string()},
                                   {"parameters", report.parameters},
                                   {"epochs", report.epochs},
                                   {"steps", report.steps},
                                   {"skipped_steps", report.skipped_steps},
                                   {"best_epoch", report.best_epoch},
                                   {"best_valid_loss", report.best_valid_loss},
                                   {"seconds", report.seconds},
                                   {"weights_sha256", report.weights_sha256},
                                   {"stopped", report.stopped}};
  return out.dump(2);
}

std::optional<TrainReport> read_result(const std::filesystem::path& run) {
  const std::filesystem::path file = run / "result.json";
  if (!std::filesystem::exists(file)) return std::nullopt;
  try {
    const auto in = nlohmann::json::parse(read_file(file));
    return TrainReport{.run = run,  // where it is now: it may have been moved
                       .parameters = in.at("parameters"),
                       .epochs = in.at("epochs"),
                       .steps = in.at("steps"),
                       .skipped_steps = in.at("skipped_steps"),
                       .best_epoch = in.at("best_epoch"),
                       .best_valid_loss = in.at("best_valid_loss"),
                       .seconds = in.at("seconds"),
                       .weights_sha256 = in.at("weights_sha256"),
                       .stopped = in.at("stopped")};
  } catch (const nlohmann::json::exception& error) {
    throw FormatError(fmt::format("{}: {}", file.string(), error.what()));
  }
}

}  // namespace foxhunt::train
