// Reports of inspect() and prune() as JSON.
#include <cmath>

#include "foxhunt/base/json.h"
#include "foxhunt/train/inspect.h"

namespace foxhunt::train {
namespace {

using nlohmann::ordered_json;

ordered_json cost_json(const nn::PerformanceMetrics& cost) {
  return {{"parameters", cost.parameters},
          {"state_values", cost.state_values},
          {"bytes_per_step", cost.bytes_per_step},
          {"flops_per_step", cost.flops_per_step}};
}

ordered_json head_json(const nn::HeadUsage& head) {
  return {{"importance", head.importance},
          {"energy", head.energy},
          {"state_share", head.state_share},
          {"rate", head.rate},
          {"decay", head.decay},
          {"memory_bars", std::isfinite(head.memory) ? ordered_json(head.memory) : ordered_json()},
          {"dt",
           {{"min", head.dt.min},
            {"p10", head.dt.p10},
            {"median", head.dt.median},
            {"p90", head.dt.p90},
            {"max", head.dt.max},
            {"at_limits", head.dt.at_limits}}}};
}

ordered_json layer_json(const nn::LayerUsage& layer) {
  ordered_json out{{"heads", ordered_json::array()}, {"groups", ordered_json::array()}};
  for (const nn::HeadUsage& head : layer.heads) out["heads"].push_back(head_json(head));
  for (const auto& columns : layer.columns) {
    ordered_json group = ordered_json::array();
    for (const nn::ColumnUsage& column : columns)
      group.push_back({{"importance", column.importance}, {"contribution", column.contribution}});
    out["groups"].push_back(std::move(group));
  }
  return out;
}

}  // namespace

std::string to_json(const InspectReport& report) {
  ordered_json out{{"run", report.run.string()},         {"split", report.split},
                   {"rows", report.usage.rows},          {"n_layer", report.config.n_layer},
                   {"n_heads", report.config.n_heads()}, {"headdim", report.config.headdim},
                   {"ngroups", report.config.ngroups},   {"d_state", report.config.d_state},
                   {"step", cost_json(report.cost)},     {"layers", ordered_json::array()}};
  for (const nn::LayerUsage& layer : report.usage.layers)
    out["layers"].push_back(layer_json(layer));
  return out.dump(2);
}

std::string to_json(const PruneReport& report) {
  ordered_json trials = ordered_json::array();
  for (const PruneTrial& trial : report.trials) {
    trials.push_back(
        {{"d_state", trial.d_state},
         {"valid_loss", std::isfinite(trial.loss) ? ordered_json(trial.loss) : ordered_json()}});
  }
  const ordered_json out{
      {"run", report.run.string()},
      {"from", {{"run", report.from.string()}, {"weights_sha256", report.weights_before_sha256}}},
      {"weights_sha256", report.weights_sha256},
      {"bound", report.bound},
      {"ranked_on", {{"split", report.split}, {"rows", report.rows}}},
      {"before",
       {{"d_state", report.d_state_before},
        {"valid_loss", report.loss_before},
        {"step", cost_json(report.cost_before)}}},
      {"after",
       {{"d_state", report.d_state},
        {"valid_loss", report.loss},
        {"step", cost_json(report.cost)}}},
      {"kept_columns", report.kept},
      {"trials", std::move(trials)}};
  return out.dump(2);
}

}  // namespace foxhunt::train
