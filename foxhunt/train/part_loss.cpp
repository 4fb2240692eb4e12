#include "foxhunt/train/part_loss.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/scalar_tensor.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <numeric>

#include "foxhunt/base/error.h"

namespace foxhunt::train {
namespace {

/// What the other ranks found, as tensors of the host: their sum has the bits of one process.
void complete(std::vector<at::Tensor>& losses, std::vector<double>& sums, const Team& team) {
  std::vector<double> values(losses.size());
  for (std::size_t i = 0; i < losses.size(); ++i) {
    if (losses[i].defined()) values[i] = read_scalars(losses[i].reshape({1}))[0];
  }
  team.complete(values);
  team.complete(sums);
  for (std::size_t i = 0; i < losses.size(); ++i)
    losses[i] = at::scalar_tensor(values[i], at::TensorOptions(at::kFloat));
}

}  // namespace

double part_loss(const EachTask& each, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read, const Team& team) {
  const at::NoGradGuard no_grad;
  const std::vector<Window> whole = whole_sequences(data.set.sequences, data.split, part);
  if (whole.empty())
    throw ConfigError(fmt::format("[train] the part '{}' holds no labelled row", name_of(part)));
  const BatchFiller filler(data.set, data.split, data.normalizer, part);
  std::vector<at::Tensor> losses(whole.size());
  std::vector<double> sums(whole.size());
  const auto count = static_cast<std::int64_t>(whole.size());
  const std::int64_t own = (count - team.rank() + team.size() - 1) / team.size();
  each(own, [&](SequenceModel& model, std::int64_t index) {
    const at::NoGradGuard here;  // a setting of the thread
    const auto i = static_cast<std::size_t>(team.rank() + index * team.size());
    Batch batch;
    filler.fill({&whole[i], 1}, 0, batch);
    const DeviceBatch one = upload(batch, 0, 1, weights, model.device());
    losses[i] = loss_sum(model.answer(one.x), one.targets, model.head());
    sums[i] = weight_sum(batch, weights);
  });
  if (team.ranks() != nullptr) complete(losses, sums, team);
  at::Tensor loss = losses[0];
  for (std::size_t i = 1; i < losses.size(); ++i) loss = loss + losses[i];
  return read(loss.reshape({1}))[0] / std::accumulate(sums.begin(), sums.end(), 0.0);
}

double part_loss(SequenceModel& model, const TrainingData& data, Part part,
                 const ClassWeights& weights, const ScalarReader& read) {
  const EachTask in_order = [&model](std::int64_t count, const ModelTask& task) {
    for (std::int64_t i = 0; i < count; ++i) task(model, i);
  };
  return part_loss(in_order, data, part, weights, read);
}

}  // namespace foxhunt::train
