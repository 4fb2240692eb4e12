#include "foxhunt/nn/check.h"

#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/stack.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "foxhunt/base/error.h"
#include "foxhunt/base/rng.h"
#include "foxhunt/nn/device_check.h"
#include "foxhunt/nn/mamba2.h"

namespace foxhunt::nn {
namespace {

using at::Tensor;
using Named = std::vector<std::pair<std::string, Tensor>>;

/// The one place where a back end is set, and refused where the model would run another.
void use(Mamba2SSM& model, Kernels kernels) {
  model.use_kernels(kernels);
  if (model.kernels_in_use() == kernels) return;
  throw DeviceError(fmt::format("[check] there are no {} kernels for {} on {}", name_of(kernels),
                                at::toString(model.dtype()), model.device().str()));
}

Tensor uniform(Rng rng, at::IntArrayRef shape) {
  Tensor t = at::empty(shape, at::TensorOptions(at::kFloat));
  float* values = t.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < t.numel(); ++i) values[i] = static_cast<float>(rng.uniform(-1, 1));
  return t;
}

struct Rows {
  Tensor x;
  WindowMarks marks;
  Tensor weight;  ///< of the answers in what is differentiated
};

Rows draw_rows(const Mamba2SSM& model, const CheckOptions& o) {
  const model::HeadConfig& head = model.head_config();
  if (head.kind == model::HeadKind::kTokens)
    throw ConfigError("[check] token models are not compared; choose another head.kind");
  const Rng rng = Rng(o.seed).split("check");
  Rows rows;
  rows.x = uniform(rng.split("rows"), {o.batch, o.tokens, head.n_features}).to(model.device());
  rows.weight =
      uniform(rng.split("weight"), {o.batch, o.tokens, head.n_outputs()}).to(model.device());
  if (!o.segments) return rows;
  const Tensor ids = at::empty({o.batch, o.tokens}, at::TensorOptions(at::kLong));
  auto* values = ids.mutable_data_ptr<std::int64_t>();
  Rng cuts = rng.split("segments");
  for (std::int64_t i = 0; i < o.batch * o.tokens; ++i) {
    const bool cut = cuts.uniform() < 0.03;
    values[i] = i % o.tokens == 0 ? 0 : values[i - 1] + (cut ? 1 : 0);
  }
  rows.marks.seq_idx = ids.to(model.device());
  return rows;
}

/// Everything that is compared, on the CPU in float64.
Named run(Mamba2SSM& model, const Rows& rows) {
  Named out;
  const auto keep = [&](const std::string& name, const Tensor& t) {
    out.emplace_back(name, t.detach().to(at::Device(at::kCPU), at::kDouble).contiguous());
  };
  model.zero_grad();
  Mamba2State state = model.zero_state(rows.x.size(0));
  const Tensor x = rows.x.detach().clone().requires_grad_(true);
  const Tensor answer = model.forward(x, state, rows.marks);
  Tensor target = (answer * rows.weight).sum();
  keep("output", answer);
  for (std::size_t i = 0; i < state.layers.size(); ++i) {
    keep(fmt::format("layer {} state", i), state.layers[i].ssm);
    target = target + state.layers[i].ssm.square().sum();
  }
  target.backward();
  keep("gradient of the rows", x.grad());
  for (const auto& item : model.named_parameters()) {
    if (item.value().grad().defined()) keep("gradient " + item.key(), item.value().grad());
  }
  const at::NoGradGuard no_grad;
  Mamba2State walking = model.zero_state(rows.x.size(0));
  std::vector<Tensor> steps;
  for (std::int64_t t = 0; t < rows.x.size(1); ++t)
    steps.push_back(model.step(rows.x.select(1, t), walking));
  keep("output of steps", at::stack(steps, 1));
  for (std::size_t i = 0; i < walking.layers.size(); ++i)
    keep(fmt::format("layer {} state of steps", i), walking.layers[i].ssm);
  return out;
}

std::size_t bin_of(double relative) {
  if (relative == 0.0) return 0;
  double edge = 1e-8;
  for (std::size_t bin = 1; bin + 1 < kErrorBins.size(); ++bin, edge *= 10.0) {
    if (relative < edge) return bin;
  }
  return kErrorBins.size() - 1;
}

TensorCheck compare(const std::string& name, const Tensor& a, const Tensor& b) {
  TensorCheck check;
  check.name = name;
  check.values = a.numel();
  const auto* left = a.const_data_ptr<double>();
  const auto* right = b.const_data_ptr<double>();
  for (std::int64_t i = 0; i < check.values; ++i)
    check.largest = std::max(check.largest, std::abs(left[i]));
  for (std::int64_t i = 0; i < check.values; ++i) {
    const double error = std::abs(left[i] - right[i]);
    const double relative = error == 0.0           ? 0.0
                            : std::isfinite(error) ? error / check.largest
                                                   : std::numeric_limits<double>::infinity();
    check.largest_error = std::max(check.largest_error, std::isfinite(error) ? error : relative);
    check.relative_error = std::max(check.relative_error, relative);
    ++check.histogram[bin_of(relative)];
  }
  return check;
}

}  // namespace

double BackendCheck::relative_error() const {
  double worst = 0.0;
  for (const TensorCheck& t : tensors) worst = std::max(worst, t.relative_error);
  return worst;
}

BackendCheck check_backends(const model::Mamba2Config& config, const model::HeadConfig& head,
                            const CheckOptions& options) {
  if (options.batch < 1 || options.tokens < 1) {
    throw UsageError(fmt::format("[check] {} windows of {} tokens, but must be 1 or more of each",
                                 options.batch, options.tokens));
  }
  open_device(options.device);
  Mamba2SSM model(config, head, at_device(options.device));
  model.initialise(options.seed);
  const Rows rows = draw_rows(model, options);
  use(model, options.a);
  const Named a = run(model, rows);
  use(model, options.b);
  const Named b = run(model, rows);
  BackendCheck result;
  for (std::size_t i = 0; i < a.size(); ++i)
    result.tensors.push_back(compare(a[i].first, a[i].second, b[i].second));
  return result;
}

}  // namespace foxhunt::nn
