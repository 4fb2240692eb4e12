#include "foxhunt/exporter/trained.h"

#include <ATen/ATen.h>

namespace foxhunt::exporter {
namespace {

/// Rows [T, F] of one sequence -> outputs [T, K].
void answer_sequence(nn::Mamba2SSM& model, const std::vector<float>& rows,
                     std::vector<float>& outputs) {
  if (rows.empty()) return;
  const at::NoGradGuard no_grad;
  const std::int64_t F = model.head_config().n_features;
  const at::Tensor x = at::empty({1, static_cast<std::int64_t>(rows.size()) / F, F},
                                 at::TensorOptions(at::kCPU).dtype(at::kFloat));
  std::copy(rows.begin(), rows.end(), x.mutable_data_ptr<float>());
  const at::Tensor y =
      model.forward(x.to(model.device())).to(at::Device(at::kCPU), at::kFloat).contiguous();
  const float* from = y.const_data_ptr<float>();
  outputs.insert(outputs.end(), from, from + y.numel());
}

template <class Record>
TrainedAnswers answers_to(nn::Mamba2SSM& model, const bundle::ModelContext& context,
                          std::span<const Record> records) {
  features::RowPipeline pipeline = context.pipeline();
  const nn::Kernels before = model.kernels();
  model.use_kernels(nn::Kernels::kAten);
  TrainedAnswers answers;
  std::vector<float> row(static_cast<std::size_t>(pipeline.width()));
  std::vector<float> rows;  // of the sequence that is open
  for (const Record& record : records) {
    const features::PushResult result = pipeline.push(record, row);
    const bool ready = result.status == features::Status::kReady;
    answers.ready.push_back(ready ? 1 : 0);
    answers.starts.push_back(result.starts_sequence ? 1 : 0);
    if (result.starts_sequence) {
      answer_sequence(model, rows, answers.outputs);
      rows.clear();
    }
    if (!ready) continue;
    context.normalizer.apply(row, row);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  answer_sequence(model, rows, answers.outputs);
  model.use_kernels(before);
  return answers;
}

}  // namespace

TrainedAnswers answers_of(nn::Mamba2SSM& model, const bundle::ModelContext& context,
                          std::span<const market::Bar> bars) {
  return answers_to(model, context, bars);
}
TrainedAnswers answers_of(nn::Mamba2SSM& model, const bundle::ModelContext& context,
                          std::span<const market::OrderEvent> events) {
  return answers_to(model, context, events);
}

std::map<std::string, std::vector<float>> weights_of(const nn::Mamba2SSM& model) {
  std::map<std::string, std::vector<float>> weights;
  for (const auto& parameter : model.named_parameters()) {
    const at::Tensor host =
        parameter.value().detach().to(at::Device(at::kCPU), at::kFloat).contiguous();
    const float* from = host.const_data_ptr<float>();
    weights.emplace(parameter.key(), std::vector<float>(from, from + host.numel()));
  }
  return weights;
}

}  // namespace foxhunt::exporter
