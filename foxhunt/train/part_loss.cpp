#include "foxhunt/train/part_loss.h"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include "foxhunt/base/error.h"

namespace foxhunt::train {

double part_loss(SequenceModel& model, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read) {
  const at::NoGradGuard no_grad;
  const std::vector<Window> whole = whole_sequences(data.set.sequences, data.split, part);
  if (whole.empty())
    throw ConfigError(fmt::format("[train] the part '{}' holds no labelled row", name_of(part)));
  const BatchFiller filler(data.set, data.split, data.normalizer, part);
  Batch batch;
  at::Tensor sum;
  double weight = 0;
  for (const Window& window : whole) {
    filler.fill({&window, 1}, 0, batch);
    const DeviceBatch one = upload(batch, 0, 1, weights, model.device());
    const at::Tensor loss = loss_sum(model.answer(one.x), one.targets, model.head());
    sum = sum.defined() ? sum + loss : loss;
    weight += weight_sum(batch, weights);
  }
  return read(sum.reshape({1}))[0] / weight;
}

}  // namespace foxhunt::train
