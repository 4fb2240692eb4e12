// How the training went: curves of metrics.jsonl.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "foxhunt/base/progress.h"
#include "foxhunt/evaluation/report/number_text.h"
#include "foxhunt/report/figure.h"
#include "foxhunt/report/html.h"
#include "foxhunt/report/sections.h"

namespace foxhunt::report {
namespace {

namespace svg = evaluation::svg;
using evaluation::count_text;
using evaluation::number_text;

constexpr double kMebi = 1 << 20;
constexpr std::size_t kMostPoints = 400;  ///< of a curve over steps

/// Some line has the key at all, be it null.
bool recorded(const std::vector<MetricsLine>& lines, std::string_view name) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const MetricsLine& line) { return line.has(name); });
}

svg::LineSeries series(const std::vector<MetricsLine>& lines, const char* x, const char* y,
                       const std::string& name) {
  return {name, column(lines, x), column(lines, y)};
}

std::string per_cent(double v) { return fmt::format("{:.2f} %", 100 * v); }
std::string mebibytes(double v) { return format_bytes(static_cast<std::int64_t>(v * kMebi)); }

std::string epochs_text(const RunFiles& run) {
  return fmt::format("<span class=\"n\">n = {} epochs</span>", run.metrics.epochs.size());
}

std::string epoch_curve(const RunFiles& run, const std::string& title, const char* alt,
                        std::vector<std::pair<const char*, const char*>> names,
                        std::string (*say)(double) = nullptr, const std::string& caption = "",
                        bool from_zero = false, double height = 236) {
  Curves curves{.title = title,
                .caption = caption.empty() ? epochs_text(run) : caption + "; " + epochs_text(run),
                .alt = alt,
                .x_name = "epoch",
                .series = {},
                .mark = {},
                .text = say,
                .from_zero = from_zero,
                .height = height};
  for (const auto& [key, name] : names)
    curves.series.push_back(series(run.metrics.epochs, "epoch", key, name));
  return curves_html(curves);
}

std::string step_curve(const RunFiles& run, const std::string& title, const char* key,
                       bool largest) {
  const svg::LineSeries all = series(run.metrics.steps, "step", key, key);
  Curves curves{.title = title,
                .caption = sample_count(static_cast<double>(all.x.size()), "logged steps"),
                .alt = fmt::format("{} by step", key),
                .x_name = "step",
                .series = {thinned(all, kMostPoints, largest)},
                .mark = {},
                .text = nullptr};
  if (all.x.size() > kMostPoints)
    curves.caption += fmt::format("; each point is the {} of about {} steps",
                                  largest ? "largest" : "mean", all.x.size() / kMostPoints);
  return curves_html(curves);
}

/// Taken by the end of the newest epoch.
std::string steps_text(const RunFiles& run) {
  const double steps =
      run.metrics.epochs.empty() ? std::nan("") : run.metrics.epochs.back().at("step");
  return std::isfinite(steps) ? count_text(steps) : not_available("not recorded");
}

std::string loss_curve(const RunFiles& run) {
  const std::vector<double> valid = column(run.metrics.epochs, "valid_loss");
  const std::vector<double> epochs = column(run.metrics.epochs, "epoch");
  Curves curves{.title = fmt::format("{} and {} by epoch", defined_as("train_loss", "Training"),
                                     defined_as("valid_loss", "validation loss")),
                .caption = "",
                .alt = "Training and validation loss by epoch",
                .x_name = "epoch",
                .series = {series(run.metrics.epochs, "epoch", "train_loss", "training"),
                           series(run.metrics.epochs, "epoch", "valid_loss", "validation")},
                .mark = {},
                .text = nullptr};
  std::size_t best = valid.size();
  for (std::size_t i = 0; i < valid.size(); ++i) {
    if (drawable(valid[i]) && (best == valid.size() || valid[i] < valid[best])) best = i;
  }
  if (best < valid.size()) {
    curves.mark =
        svg::Mark{epochs[best], valid[best], fmt::format("best: epoch {:.0f}", epochs[best])};
    curves.caption = fmt::format(
        "lowest validation loss {} in epoch {:.0f}; the model kept is that "
        "epoch's",
        number_text(valid[best]), epochs[best]);
  }
  for (const auto& [part, name] :
       {std::pair{"train", "training labels"}, std::pair{"valid", "validation labels"}}) {
    const Reading n = number(run.coverage, {"parts", part, "labels"});
    if (n) curves.caption += fmt::format("; {}", sample_count(*n, name));
  }
  return wide_curves_html(curves);
}

}  // namespace

std::string training_section(const RunFiles& run) {
  if (run.metrics.epochs.empty() && run.metrics.steps.empty())
    return section("training", "Training", "", hint("No epoch is finished yet."));
  std::string figures;
  if (!run.metrics.epochs.empty()) {
    figures += loss_curve(run);
    figures += epoch_curve(run, defined_as("lr", "Learning rate"), "Learning rate by epoch",
                           {{"lr", "learning rate"}}, nullptr, "", false, 290);
  }
  if (!run.metrics.steps.empty()) {
    figures += step_curve(run, defined_as("loss", "Loss of a step"), "loss", false);
    figures += step_curve(run, defined_as("lr", "Learning rate of a step"), "lr", false);
    figures +=
        step_curve(run, defined_as("grad_norm", "Gradient norm of a step"), "grad_norm", true);
  }
  std::string body = fmt::format("<div class=\"grid\">{}</div>", figures);
  if (run.metrics.unread_lines > 0)
    body +=
        hint(fmt::format("{} line of metrics.jsonl could not be read (a run that is being "
                         "written ends in half a line).",
                         run.metrics.unread_lines));
  const std::string* epochs = run.setting("train.epochs");
  std::string lead = fmt::format(
      "{} epochs{}, {} steps{}.", run.metrics.epochs.size(),
      epochs == nullptr ? "" : fmt::format(" of {} at most", escape(*epochs)), steps_text(run),
      run.result.is_object() ? "; ended: " + escape(text(run.result, {"stopped"}, "?")) : "");
  return section("training", "Training", lead, body);
}

std::string health_section(const RunFiles& run) {
  const auto& epochs = run.metrics.epochs;
  if (epochs.empty()) return {};
  const std::string* clip = run.setting("train.optimizer.clip_norm");
  std::string figures =
      epoch_curve(run, defined_as("grad_norm", "Gradient norm"), "Gradient norm by epoch",
                  {{"grad_norm_mean", "mean"}, {"grad_norm_max", "largest"}}, nullptr,
                  clip == nullptr ? "" : "clipped to " + escape(*clip)) +
      epoch_curve(
          run, defined_as("skipped_steps", "Skipped steps"), "Skipped steps by epoch",
          {{"skipped_steps", "skipped steps"}}, [](double v) { return count_text(v); }, "", true) +
      epoch_curve(run, defined_as("dt_at_limit_share", "Step sizes at a limit"),
                  "Share of step sizes at a limit by epoch",
                  {{"dt_at_limit_share", "share at a limit"}}, per_cent, "", true) +
      epoch_curve(run, defined_as("largest_state", "Largest state"), "Largest state by epoch",
                  {{"largest_state", "largest state"}}) +
      epoch_curve(run, defined_as("a_range", "Fastest decay, largest |A|"),
                  "Largest decay rate by epoch", {{"a_max", "largest |A|"}}) +
      epoch_curve(run, defined_as("a_range", "Slowest decay, smallest |A|"),
                  "Smallest decay rate by epoch", {{"a_min", "smallest |A|"}}) +
      epoch_curve(run, defined_as("parameter_norm", "Norm of the weights"),
                  "Norm of the weights by epoch", {{"parameter_norm", "norm"}}) +
      epoch_curve(
          run, defined_as("rows_per_second", "Speed"), "Rows per second by epoch",
          {{"rows_per_second", "rows a second"}}, [](double v) { return count_text(v); }, "",
          true) +
      epoch_curve(run, "Seconds of an epoch", "Seconds of an epoch", {{"seconds", "seconds"}},
                  nullptr, "with validation and checkpoint", true);
  const std::vector<double> skipped = column(epochs, "skipped_steps");
  const double all = std::accumulate(skipped.begin(), skipped.end(), 0.0);
  return section(
      "health", "Gradients, state, weights",
      std::isfinite(all) && all > 0
          ? fmt::format("{} steps had no finite gradient and were skipped.", count_text(all))
          : "No step was skipped.",
      fmt::format("<div class=\"grid\">{}</div>", figures));
}

namespace {

/// Of metrics.jsonl, in MiB.
std::string memory_curve(const RunFiles& run, const std::string& title, const char* alt,
                         const std::vector<std::pair<const char*, const char*>>& names,
                         const std::string& caption) {
  Curves curves{
      .title = title,
      .caption = fmt::format("MiB, at the end of an epoch; {}; {}", caption, epochs_text(run)),
      .alt = alt,
      .x_name = "epoch",
      .series = {},
      .mark = {},
      .text = mebibytes,
      .from_zero = true};
  for (const auto& [key, name] : names) {
    svg::LineSeries one = series(run.metrics.epochs, "epoch", key, name);
    for (double& v : one.y) v /= kMebi;
    curves.series.push_back(std::move(one));
  }
  return wide_curves_html(curves);
}

}  // namespace

std::string memory_section(const RunFiles& run) {
  const auto& epochs = run.metrics.epochs;
  if (epochs.empty()) return {};
  std::vector<std::pair<const char*, const char*>> host;
  std::vector<std::pair<const char*, const char*>> device;
  for (const auto& [key, name] :
       {std::pair{"resident_bytes", "resident"}, std::pair{"resident_peak_bytes", "resident, peak"},
        std::pair{"allocator_peak_bytes", "tensors, peak"}}) {
    if (recorded(epochs, key)) host.emplace_back(key, name);
  }
  for (const auto& [key, name] :
       {std::pair{"device_bytes", "in use"}, std::pair{"device_peak_bytes", "peak"}}) {
    const std::vector<double> values = column(epochs, key);
    if (std::any_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); }))
      device.emplace_back(key, name);
  }
  const std::string* budget = run.setting("train.memory_budget");
  const std::string budget_text = budget == nullptr || *budget == "\"\"" || *budget == "0"
                                      ? "no budget was set"
                                      : "budget " + escape(*budget);
  std::string figures;
  if (!host.empty())
    figures += memory_curve(run, defined_as(host.front().first, "Memory of the process"),
                            "Memory of the process by epoch", host, budget_text);
  if (!device.empty())
    figures += memory_curve(run, defined_as("device_bytes", "Memory of the GPU"),
                            "Memory of the GPU by epoch", device, "this process alone");
  return section("memory", "Memory",
                 device.empty()
                     ? "Of a GPU: " + not_available("the run used none, or it was not recorded")
                     : "",
                 fmt::format("<div class=\"grid\">{}</div>", figures));
}

}  // namespace foxhunt::report
