#include "foxhunt/report/glossary.h"

#include <fmt/format.h>

#include <array>

#include "foxhunt/evaluation/svg/canvas.h"

namespace foxhunt::report {
namespace {

using evaluation::svg::escape;

constexpr std::array kDefinitions{
    // How good the answers are.
    Definition{
        "log_loss", "mean of -ln p(true class)",
        "In nats; lower is better. Probabilities are clipped to 2^-52 from 0 and 1. The loss "
        "by which an edge is judged."},
    Definition{"brier", "mean of Σ over classes of (p - truth)²",
               "0 to 2; lower is better. For two classes twice the binary Brier score."},
    Definition{
        "ece", "mean over classes of Σ over bins of share · |said - happened|",
        "Expected calibration error with bins of equally many rows. Noise alone raises it, so "
        "its interval is the reflected one."},
    Definition{"accuracy", "right rows / rows",
               "The class of the largest probability is the answer."},
    Definition{"balanced_accuracy", "mean of the recalls of the classes that occurred",
               "An answer that never varies gets 1 / classes."},
    Definition{"macro_f1", "mean over classes of 2TP / (2TP + FP + FN)",
               "Plain mean, so a rare class counts as much as a frequent one."},
    Definition{"mcc", "correlation of truth and answer for K classes (Gorodkin 2004)",
               "-1 to 1; 0 when every row gets the same answer."},
    Definition{"auc", "mean over classes of P(score of a row of the class > score of another)",
               "0.5 is no skill. One class against the rest."},
    Definition{"rank_ic", "Spearman's correlation of forecast and outcome",
               "The rank information coefficient. For classes the forecast is P(up) - P(down); the "
               "outcome is what the price did over the label's horizon."},
    Definition{"f1", "2TP / (2TP + FP + FN)", "Of one class."},
    Definition{"rmse", "√ mean of (forecast - outcome)²", "Lower is better."},
    Definition{"mae", "mean of |forecast - outcome|", "Lower is better."},
    Definition{"r2", "1 - Σ(outcome - forecast)² / Σ(outcome - training mean)²",
               "Out of sample: below 0 the mean of the training rows would have been better."},
    Definition{"pearson_ic", "Pearson's correlation of forecast and outcome",
               "Outliers weigh in it, unlike in the rank IC."},
    Definition{"pinball", "mean of max(q·e, (q - 1)·e), e = outcome - forecast of quantile q",
               "The loss of quantiles; lower is better."},
    Definition{"coverage", "rows with outcome ≤ forecast / rows",
               "Should be the quantile's level."},
    Definition{
        "interval", "quantiles of the metric over resampled blocks of rows",
        "Block bootstrap. Blocks are at least as long as a label looks ahead, since "
        "neighbours share their outcome. Differences use the same resamples for both sides."},
    Definition{"difference", "metric of the model - metric of the best baseline",
               "The best of several baselines is a little lucky: that is against the model, on "
               "purpose."},
    Definition{"edge",
               "the whole interval of the difference in the main loss lies on one side of 0",
               "Holds it zero, the verdict is \"no edge\"."},
    Definition{"deflated",
               "gain - s E(N), E(N) = (1 - g) Φ⁻¹(1 - 1/N) + g Φ⁻¹(1 - 1/(N e)), g = 0.5772; "
               "probability = Φ(deflated / s)",
               "N: sets of weights tried on these rows; s: standard error of the gain over "
               "resampled blocks. E(N) s is what the best of N without any edge shows on average."},
    Definition{"calibration", "share of rows of a bin in which the class happened",
               "What was called 40 % should happen in 40 % of the cases: on the dashed line."},
    Definition{"confusion", "rows of a true class answered as a class",
               "The percentage is of the true class."},
    Definition{"recall", "TP / (TP + FN)", "Of the rows of a class, those answered as it."},
    Definition{"precision", "TP / (TP + FP)", "Of the rows answered as a class, those of it."},
    Definition{"baseline", "",
               "A forecaster that answers the same rows: prior (class shares of training), "
               "persistence (the last move), a linear model, a GRU of like size."},
    // How the training went.
    Definition{"train_loss", "mean loss over the training rows of an epoch, while weights move",
               "It is taken during the epoch, so it lags behind the weights at its end."},
    Definition{"valid_loss", "mean loss over the validation rows after an epoch",
               "Whole sequences from a zero state. The epoch with the lowest one is kept."},
    Definition{"lr", "", "Learning rate of the epoch's last step, by the schedule."},
    Definition{"loss", "mean loss of the batch of one step", "Noisy: few windows."},
    Definition{"grad_norm", "√ Σ g² over all parameters, before clipping",
               "Steps with a norm above train.optimizer.clip_norm are scaled down to it."},
    Definition{"skipped_steps", "steps whose loss or gradient was not finite",
               "They change no weight. Many of them end the training."},
    Definition{
        "dt_at_limit_share", "step sizes at a limit / step sizes",
        "On one validation sequence. Gradients do not pass a limit: a large share cannot learn."},
    Definition{"largest_state", "max |h| over layers, heads and bars",
               "On one validation sequence. It should stay of the order of the inputs."},
    Definition{"parameter_norm", "√ Σ w² over all parameters", ""},
    Definition{"a_range", "smallest and largest |A| over all heads",
               "Decay rates; kept within train.a_min and train.a_max after every step."},
    Definition{"rows_per_second", "labelled training rows / seconds of training",
               "Without validation."},
    Definition{"parameters", "", "Numbers that the training moves."},
    // What it ran on.
    Definition{"resident_bytes", "",
               "Memory of the process that is in RAM, at the end of an epoch."},
    Definition{"resident_peak_bytes", "", "The most it ever was."},
    Definition{"allocator_peak_bytes", "", "The most that tensors held."},
    Definition{"device_bytes", "", "Memory of the GPU in use by this process."},
    Definition{"device_peak_bytes", "", "The most it ever was."},
    Definition{"rows", "",
               "Bars with a full set of features; the warm-up of each sequence is none."},
    Definition{"labels", "", "Rows whose outcome is known within their sequence."},
    Definition{"purged", "",
               "Rows whose label reaches over a cut between parts, or into the embargo before it."},
    Definition{
        "gap", "time between neighbouring rows - bar length",
        "Inside a trading day, between its first and its last row. Bars that warm a sequence "
        "up have no row, so a break in trading counts with its warm-up."},
    Definition{"sha256", "", "Any changed bit of a file changes it."},
};

}  // namespace

std::span<const Definition> definitions() { return kDefinitions; }

const Definition* definition_of(std::string_view id) {
  const Definition* longest = nullptr;
  for (const Definition& d : kDefinitions) {
    if (d.id == id) return &d;
    const bool begins = id.starts_with(d.id) && id.size() > d.id.size() && id[d.id.size()] == '_';
    if (begins && (longest == nullptr || d.id.size() > longest->id.size())) longest = &d;
  }
  return longest;
}

std::string glossary_html() {
  std::string html =
      "<section id=\"definitions\"><h2>Definitions</h2><p class=\"lead\">Every underlined name on "
      "this page leads here.</p>\n<dl class=\"glossary\">\n";
  for (const Definition& d : kDefinitions) {
    html += fmt::format("<div id=\"def-{0}\"><dt>{0}</dt><dd>{1}{2}</dd></div>\n", escape(d.id),
                        d.formula.empty() ? "" : fmt::format("<code>{}</code> ", escape(d.formula)),
                        escape(d.meaning));
  }
  return html + "</dl></section>\n";
}

}  // namespace foxhunt::report
