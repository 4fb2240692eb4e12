// Reports of inspect() and prune() as text.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/evaluation/report/text_table.h"
#include "foxhunt/train/inspect.h"

namespace foxhunt::train {
namespace {

using evaluation::count_text;
using evaluation::text_table;
using evaluation::wrap;

std::string count_of(std::int64_t n) { return count_text(static_cast<double>(n)); }

/// Columns of one group, the most important first.
std::vector<std::size_t> ranked(const std::vector<nn::ColumnUsage>& columns) {
  std::vector<std::size_t> order(columns.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return columns[a].importance > columns[b].importance;
  });
  return order;
}

/// How many of the ranked columns hold `share` of the importance together.
std::size_t holding(const std::vector<nn::ColumnUsage>& columns,
                    const std::vector<std::size_t>& order, double share) {
  const double all =
      std::accumulate(columns.begin(), columns.end(), 0.0,
                      [](double sum, const nn::ColumnUsage& c) { return sum + c.importance; });
  double sum = 0;
  std::size_t n = 0;
  while (n < order.size() && sum < share * all) sum += columns[order[n++]].importance;
  return n;
}

std::string heads_table(const nn::LayerUsage& layer) {
  std::vector<std::vector<std::string>> rows{{"head", "importance", "energy", "state", "|A|",
                                              "dt min", "p10", "median", "p90", "max", "limits",
                                              "memory"}};
  for (std::size_t h = 0; h < layer.heads.size(); ++h) {
    const nn::HeadUsage& head = layer.heads[h];
    const auto dt = [](double value) { return fmt::format("{:.2g}", value); };
    rows.push_back({fmt::format("{}", h), fmt::format("{:.1e}", head.importance),
                    fmt::format("{:.0f} %", 100 * head.energy),
                    fmt::format("{:.1f} %", 100 * head.state_share),
                    fmt::format("{:.3g}", head.rate), dt(head.dt.min), dt(head.dt.p10),
                    dt(head.dt.median), dt(head.dt.p90), dt(head.dt.max),
                    fmt::format("{:.1f} %", 100 * head.dt.at_limits),
                    std::isfinite(head.memory) ? fmt::format("{:.1f}", head.memory) : "endless"});
  }
  return text_table(rows);
}

std::string columns_text(const std::vector<nn::ColumnUsage>& columns, const std::string& group) {
  constexpr std::size_t kShown = 16;
  const std::vector<std::size_t> order = ranked(columns);
  std::vector<std::string> items;
  for (std::size_t i = 0; i < std::min(order.size(), kShown); ++i)
    items.push_back(fmt::format("{}={:.1e}", order[i], columns[order[i]].importance));
  if (order.size() > kShown) items.push_back(fmt::format("and {} below", order.size() - kShown));
  std::string text = wrap(fmt::format("columns{} {}", group, fmt::join(items, ", ")), 2);
  const std::size_t dead = static_cast<std::size_t>(std::count_if(
      columns.begin(), columns.end(), [](const nn::ColumnUsage& c) { return c.importance == 0; }));
  text +=
      fmt::format("  {} of {} hold half of the importance, {} hold 90 %, {} hold 99 %; {} dead\n",
                  holding(columns, order, 0.5), columns.size(), holding(columns, order, 0.9),
                  holding(columns, order, 0.99), dead);
  return text;
}

}  // namespace

std::string to_text(const InspectReport& report) {
  const model::Mamba2Config& c = report.config;
  std::string text = wrap(
      fmt::format("State of {} on {} rows of the part '{}': {} layers, {} heads of {} x {}, {} "
                  "group{}; {} parameters, {} values of state, {} bytes a step.",
                  report.run.string(), count_of(report.usage.rows), report.split, c.n_layer,
                  c.n_heads(), c.headdim, c.d_state, c.ngroups, c.ngroups == 1 ? "" : "s",
                  count_of(report.cost.parameters), count_of(report.cost.state_values),
                  count_of(report.cost.bytes_per_step)),
      0);
  text += wrap(
      "Importance: about how much the loss of a row rises when the head or column is taken out "
      "alone. State: its share in what the head answers; the skip D x is the rest. dt: step sizes; "
      "limits: share of them at one. Memory: bars after which a past input has decayed to 1/e.",
      0);
  for (std::size_t i = 0; i < report.usage.layers.size(); ++i) {
    const nn::LayerUsage& layer = report.usage.layers[i];
    const std::string title = fmt::format("Layer {}", i);
    text += fmt::format("\n{}\n{}\n{}", title, std::string(title.size(), '-'), heads_table(layer));
    for (std::size_t g = 0; g < layer.columns.size(); ++g) {
      text += columns_text(layer.columns[g],
                           layer.columns.size() > 1 ? fmt::format(" of group {}", g) : "");
    }
  }
  return text;
}

std::string to_text(const PruneReport& report) {
  const auto change = [](std::string name, std::int64_t before, std::int64_t after) {
    const double percent = 100 * (static_cast<double>(after) / static_cast<double>(before) - 1);
    return std::vector<std::string>{std::move(name), count_of(before), count_of(after),
                                    fmt::format("{:+.1f} %", percent)};
  };
  const nn::PerformanceMetrics& a = report.cost_before;
  const nn::PerformanceMetrics& b = report.cost;
  std::string text = text_table({{"", "before", "after", "change"},
                                 change("d_state", report.d_state_before, report.d_state),
                                 {"validation loss", fmt::format("{:.6f}", report.loss_before),
                                  fmt::format("{:.6f}", report.loss),
                                  fmt::format("{:+.6f}", report.loss - report.loss_before)},
                                 change("parameters", a.parameters, b.parameters),
                                 change("values of state", a.state_values, b.state_values),
                                 change("bytes a step", a.bytes_per_step, b.bytes_per_step),
                                 change("operations a step", a.flops_per_step, b.flops_per_step)});
  text += fmt::format(
      "The loss was allowed to rise by {:g}. Columns ranked on {} rows of the part "
      "'{}' of {}.\nweights {}\nrun     {}\n",
      report.bound, count_of(report.rows), report.split, report.from.string(),
      report.weights_sha256.substr(0, 16), report.run.string());
  return text;
}

}  // namespace foxhunt::train
