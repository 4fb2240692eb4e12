// The result of a search as a table and as JSON.
#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/json.h"
#include "foxhunt/evaluation/report/text_table.h"
#include "foxhunt/experiments/tune.h"

namespace foxhunt::experiments {
namespace {

namespace ev = foxhunt::evaluation;
using Json = nlohmann::ordered_json;

constexpr std::size_t kShown = 25;

/// Those further on first, then by loss, then by number; the failed last.
std::vector<const Trial*> by_rank(const TuneReport& report) {
  std::vector<const Trial*> order;
  for (const Trial& trial : report.trials) order.push_back(&trial);
  std::ranges::stable_sort(order, [](const Trial* a, const Trial* b) {
    if (a->loss().has_value() != b->loss().has_value()) return a->loss().has_value();
    if (!a->loss()) return false;
    if (a->rungs.size() != b->rungs.size()) return a->rungs.size() > b->rungs.size();
    return *a->loss() < *b->loss();
  });
  return order;
}

std::string trial_name(const Trial& trial) { return fmt::format("{:03}", trial.index + 1); }

/// The last word of a key, for the head of a column.
std::string short_name(const std::string& key) { return key.substr(key.rfind('.') + 1); }

Json to_json(const TuneReport& report, const Trial& trial) {
  Json values = Json::object();
  for (std::size_t i = 0; i < report.ranges.size(); ++i)
    values[report.ranges[i].key] = trial.values[i];
  Json rungs = Json::array();
  for (const RungResult& r : trial.rungs)
    rungs.push_back({{"epochs", r.epochs}, {"loss", r.loss}, {"best_epoch", r.best_epoch}});
  return {{"trial", trial.index + 1},
          {"run", fmt::format("trial-{}", trial_name(trial))},
          {"values", std::move(values)},
          {"valid_loss", trial.loss() ? Json(*trial.loss()) : Json(nullptr)},
          {"rungs", std::move(rungs)},
          {"weights_sha256", trial.weights_sha256},
          {"error", trial.error.empty() ? Json(nullptr) : Json(trial.error)},
          {"seconds", trial.seconds}};
}

}  // namespace

std::string to_json(const TuneReport& report) {
  Json trials = Json::array();
  for (const Trial* trial : by_rank(report)) trials.push_back(to_json(report, *trial));
  const Json json{
      {"folder", report.folder.string()},
      {"looked_at", report.looked_at()},
      {"failed", report.failed},
      {"rungs", report.rungs},
      {"best", report.best ? to_json(report, report.trials[*report.best]) : Json(nullptr)},
      {"best_config", report.best ? Json((report.folder / "best.toml").string()) : Json(nullptr)},
      {"counted", report.counted},
      {"trials", std::move(trials)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string to_text(const TuneReport& report) {
  std::vector<std::vector<std::string>> cells{{"trial", "valid loss", "best epoch", "epochs"}};
  for (const Range& range : report.ranges) cells[0].push_back(short_name(range.key));
  std::string failures;
  for (const Trial* trial : by_rank(report)) {
    if (!trial->error.empty())
      failures += ev::wrap(fmt::format("trial {} failed: {}", trial_name(*trial), trial->error), 4);
    if (cells.size() > kShown || !trial->loss()) continue;
    const RungResult& last = trial->rungs.back();
    std::vector<std::string> row{trial_name(*trial), fmt::format("{:.5f}", last.loss),
                                 std::to_string(last.best_epoch), std::to_string(last.epochs)};
    row.insert(row.end(), trial->values.begin(), trial->values.end());
    cells.push_back(std::move(row));
  }
  std::string text = ev::text_table(cells) + failures;
  text += fmt::format("\n{} settings were looked at", report.looked_at());
  if (report.failed > 0) text += fmt::format(", {} more failed", report.failed);
  text += ".\n" + ev::wrap(fmt::format("The choice is by the validation loss alone; the test part "
                                       "was not read. {}{}.",
                                       static_cast<char>(std::toupper(
                                           report.counted.empty() ? ' ' : report.counted[0])),
                                       report.counted.empty() ? "" : report.counted.substr(1)),
                           0);
  if (report.best) {
    text += ev::wrap(
        "The best of many validation losses is lower than it will be on new rows: "
        "judge the choice with foxhunt evaluate.",
        0);
    text += fmt::format("best     trial {}\nconfig   {}\n", trial_name(report.trials[*report.best]),
                        (report.folder / "best.toml").string());
  }
  return text;
}

}  // namespace foxhunt::experiments
