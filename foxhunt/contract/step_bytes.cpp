#include "foxhunt/contract/step_bytes.h"

namespace foxhunt::contract {
namespace {

constexpr std::int64_t kLine = 64;

std::int64_t up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }
std::int64_t lines(std::int64_t floats) { return up(4 * floats, kLine); }

/// Whole vectors of outputs times whole groups of inputs: a product reads the zeros between, too.
std::int64_t matrix(std::int64_t out, std::int64_t in, const kernels::ProductKernel& kernel) {
  return up(up(out, kernel.lanes) * up(in, kernel.group) * kernels::element_bytes(kernel.type),
            kLine);
}

std::int64_t row_vectors(std::int64_t out, bool bias, const kernels::ProductKernel& kernel) {
  const std::int64_t each = lines(up(out, kernel.lanes));
  return each * ((bias ? 1 : 0) + (kernel.type == kernels::WeightType::kI8 ? 2 : 0));
}

}  // namespace

StepBytes step_bytes(const engine::Plan& plan) {
  const kernels::StepNetwork& network = plan.network();
  const kernels::StepShape& s = network.shape();
  const kernels::ProductKernel& narrow = network.projections();
  const kernels::ProductKernel& plain = network.kernels().product;
  const std::int64_t inner = kernels::inner_width(s);
  const std::int64_t channels = kernels::conv_channels(s);
  const std::int64_t layers = plan.bundle().config.n_layer;
  const bool bias = plan.bundle().config.proj_bias;
  StepBytes bytes;
  bytes.ends =
      matrix(s.d_model, plan.n_features(), plain) + matrix(plan.n_outputs(), s.d_model, plain);
  bytes.projections = layers * (matrix(kernels::projected_width(s), s.d_model, narrow) +
                                matrix(s.d_model, inner, narrow));
  bytes.vectors = row_vectors(s.d_model, true, plain) + row_vectors(plan.n_outputs(), true, plain) +
                  layers * (row_vectors(kernels::projected_width(s), bias, narrow) +
                            row_vectors(s.d_model, bias, narrow));
  bytes.cores = layers * ((s.conv_width + 1) * lines(channels) + 3 * lines(s.heads));
  bytes.state = layers * lines(inner * s.d_state);
  bytes.window = layers * (s.conv_width - 1) * lines(channels);
  bytes.window_row = s.conv_width > 1 ? layers * lines(channels) : 0;
  return bytes;
}

}  // namespace foxhunt::contract
