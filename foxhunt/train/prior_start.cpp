#include "foxhunt/train/prior_start.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "foxhunt/nn/declared_transfer.h"

namespace foxhunt::train {
namespace {

struct TrainingLabels {
  std::vector<double> class_counts = std::vector<double>(kClasses, 1.0);
  std::vector<double> values;
};

TrainingLabels collect(const SequenceSet& set, const Split& split) {
  TrainingLabels labels;
  for (std::size_t s = 0; s < set.sequences.size(); ++s) {
    const Labels& of = set.sequences[s].labels;
    for (std::size_t t = 0; t < of.valid.size(); ++t) {
      if (split.parts[s][t] != Part::kTrain || of.valid[t] == 0) continue;
      labels.class_counts[static_cast<std::size_t>(of.classes[t])] += 1.0;
      labels.values.push_back(static_cast<double>(of.value[t]));
    }
  }
  return labels;
}

std::vector<double> best_constant(TrainingLabels labels, const model::HeadConfig& head) {
  std::vector<double> bias;
  const double n = std::max(1.0, static_cast<double>(labels.values.size()));
  switch (head.kind) {
    case model::HeadKind::kClassification: {
      const double total =
          std::accumulate(labels.class_counts.begin(), labels.class_counts.end(), 0.0);
      for (const double count : labels.class_counts) bias.push_back(std::log(count / total));
      break;
    }
    case model::HeadKind::kQuantiles:
      std::sort(labels.values.begin(), labels.values.end());
      for (const double q : head.quantiles) {
        const auto at = static_cast<std::size_t>(q * std::max(0.0, n - 1.0));
        bias.push_back(labels.values.empty() ? 0.0 : labels.values[at]);
      }
      break;
    case model::HeadKind::kRegression:
      bias.push_back(std::accumulate(labels.values.begin(), labels.values.end(), 0.0) / n);
      break;
    case model::HeadKind::kTokens:
      break;
  }
  return bias;
}

}  // namespace

void start_at_prior(SequenceModel& model, const SequenceSet& set, const Split& split) {
  const std::vector<double> bias = best_constant(collect(set, split), model.head());
  if (bias.empty()) return;
  const at::NoGradGuard no_grad;
  const nn::DeclaredTransfer declared("the head's first bias to the device");
  for (const auto& [name, tensor] : model.parameters()) {
    if (name == "head.weight") tensor.zero_();
    if (name == "head.bias") tensor.copy_(at::tensor(bias, at::TensorOptions(at::kDouble)));
  }
}

}  // namespace foxhunt::train
