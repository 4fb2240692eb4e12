#include "foxhunt/kernels/reference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "foxhunt/base/error.h"

namespace foxhunt::kernels {
namespace {

using Values = std::vector<double>;

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

double silu(double x) { return x / (1.0 + std::exp(-x)); }

/// log(1 + e^x) up to 20, x above: as the published layers have it.
double softplus(double x) { return x > 20.0 ? x : std::log1p(std::exp(x)); }

void check_size(const char* name, const Values& values, std::int64_t size) {
  if (static_cast<std::int64_t>(values.size()) == size) return;
  throw ShapeError(
      fmt::format("[reference] {} has {} values, but must have {}", name, values.size(), size));
}

void check_optional(const char* name, const Values& values, std::int64_t size) {
  if (!values.empty()) check_size(name, values, size);
}

void check(const ReferenceShape& s, const ReferenceWeights& w, const Values& u,
           const ReferenceState& state) {
  if (s.groups < 1 || s.heads < 1 || s.heads % s.groups != 0) {
    throw ShapeError(
        fmt::format("[reference] {} groups do not divide {} heads", s.groups, s.heads));
  }
  check_size("u", u, s.d_model);
  check_size("in_proj.weight", w.in_proj_weight, s.proj_width() * s.d_model);
  check_optional("in_proj.bias", w.in_proj_bias, s.proj_width());
  check_size("conv1d.weight", w.conv_weight, s.channels() * s.d_conv);
  check_optional("conv1d.bias", w.conv_bias, s.channels());
  check_size("dt_bias", w.dt_bias, s.heads);
  check_size("A_log", w.a_log, s.heads);
  check_optional("D", w.d, s.heads);
  check_size("norm.weight", w.norm_weight, s.norm == ReferenceShape::Norm::kNone ? 0 : s.d_inner());
  check_size("out_proj.weight", w.out_proj_weight, s.d_model * s.d_inner());
  check_optional("out_proj.bias", w.out_proj_bias, s.d_model);
  check_size("state.conv", state.conv, s.channels() * s.d_conv);
  check_size("state.ssm", state.ssm, s.d_inner() * s.d_state);
}

Values linear(const Values& weight, const Values& bias, const Values& x, std::int64_t rows) {
  const std::size_t columns = x.size();
  Values out(index(rows), 0.0);
  for (std::size_t r = 0; r < out.size(); ++r) {
    for (std::size_t c = 0; c < columns; ++c) out[r] += weight[r * columns + c] * x[c];
    if (!bias.empty()) out[r] += bias[r];
  }
  return out;
}

/// Shifts the newest raw input in and answers with silu(convolution).
Values convolve(const ReferenceShape& s, const ReferenceWeights& w, const double* input,
                Values& window) {
  const std::size_t width = index(s.d_conv);
  Values out(index(s.channels()));
  for (std::size_t c = 0; c < out.size(); ++c) {
    double* row = &window[c * width];
    std::copy(row + 1, row + width, row);
    row[width - 1] = input[c];
    double sum = w.conv_bias.empty() ? 0.0 : w.conv_bias[c];
    for (std::size_t k = 0; k < width; ++k) sum += w.conv_weight[c * width + k] * row[k];
    out[c] = silu(sum);
  }
  return out;
}

/// S <- exp(dt A) S + dt x B^T, y = S C + D x, head by head.
Values recur(const ReferenceShape& s, const ReferenceWeights& w, const Values& xbc,
             const Values& dt, Values& ssm) {
  const std::size_t P = index(s.headdim);
  const std::size_t N = index(s.d_state);
  const std::size_t per_group = index(s.heads / s.groups);
  const double* x = xbc.data();
  const double* B = x + s.d_inner();
  const double* C = B + s.groups * s.d_state;
  Values y(index(s.d_inner()), 0.0);
  for (std::size_t h = 0; h < index(s.heads); ++h) {
    const std::size_t group = h / per_group;
    const double decay = std::exp(dt[h] * -std::exp(w.a_log[h]));
    for (std::size_t p = h * P; p < (h + 1) * P; ++p) {
      for (std::size_t n = 0; n < N; ++n) {
        double& state = ssm[p * N + n];
        state = decay * state + dt[h] * x[p] * B[group * N + n];
        y[p] += state * C[group * N + n];
      }
      if (!w.d.empty()) y[p] += w.d[h] * x[p];
    }
  }
  return y;
}

Values gate_and_norm(const ReferenceShape& s, const ReferenceWeights& w, const Values& y,
                     const double* z) {
  using Norm = ReferenceShape::Norm;
  Values q = y;
  if (s.norm != Norm::kNormFirst) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] *= silu(z[i]);
  }
  if (s.norm == Norm::kNone) return q;
  const std::size_t size = q.size() / index(s.groups);
  for (std::size_t start = 0; start < q.size(); start += size) {
    double squares = 0.0;
    for (std::size_t i = start; i < start + size; ++i) squares += q[i] * q[i];
    const double scale = 1.0 / std::sqrt(squares / static_cast<double>(size) + s.eps);
    for (std::size_t i = start; i < start + size; ++i) q[i] *= scale * w.norm_weight[i];
  }
  if (s.norm == Norm::kNormFirst) {
    for (std::size_t i = 0; i < q.size(); ++i) q[i] *= silu(z[i]);
  }
  return q;
}

}  // namespace

ReferenceState::ReferenceState(const ReferenceShape& shape)
    : conv(index(shape.channels() * shape.d_conv), 0.0),
      ssm(index(shape.d_inner() * shape.d_state), 0.0) {}

ReferenceOutput reference_step(const ReferenceShape& shape, const ReferenceWeights& weights,
                               const Values& u, ReferenceState& state) {
  check(shape, weights, u, state);
  const Values projected =
      linear(weights.in_proj_weight, weights.in_proj_bias, u, shape.proj_width());
  const double* z = projected.data();
  const double* raw_xbc = z + shape.d_inner();
  const double* raw_dt = raw_xbc + shape.channels();
  const Values xbc = convolve(shape, weights, raw_xbc, state.conv);
  ReferenceOutput result;
  for (std::size_t h = 0; h < index(shape.heads); ++h) {
    result.dt.push_back(
        std::clamp(softplus(raw_dt[h] + weights.dt_bias[h]), shape.dt_min, shape.dt_max));
  }
  result.y = recur(shape, weights, xbc, result.dt, state.ssm);
  result.out = linear(weights.out_proj_weight, weights.out_proj_bias,
                      gate_and_norm(shape, weights, result.y, z), shape.d_model);
  return result;
}

}  // namespace foxhunt::kernels
