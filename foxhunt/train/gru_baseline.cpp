#include "foxhunt/train/gru_baseline.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <cstdlib>

namespace foxhunt::train {
namespace {

constexpr std::int64_t kPiece = 2048;  // rows that answer() holds at once

class Gru final : public SequenceModel {
 public:
  Gru(const model::HeadConfig& head, std::int64_t width, at::Device device, std::uint64_t seed)
      : head_(head), width_(width), device_(device) {
    at::Generator generator = at::make_generator<at::CPUGeneratorImpl>(seed);
    const double bound = 1.0 / std::sqrt(static_cast<double>(width));
    const auto add = [&](const char* name, at::IntArrayRef shape) {
      // Drawn on the host so that every device starts from the same values.
      at::Tensor drawn =
          at::empty(shape, at::TensorOptions(at::kFloat)).uniform_(-bound, bound, generator);
      parameters_.emplace_back(name, drawn.to(device).requires_grad_());
    };
    add("in.weight", {width, head.n_features});
    add("in.bias", {width});
    add("gru.weight_ih", {3 * width, width});
    add("gru.weight_hh", {3 * width, width});
    add("gru.bias_ih", {3 * width});
    add("gru.bias_hh", {3 * width});
    add("head.weight", {head.n_outputs(), width});
    add("head.bias", {head.n_outputs()});
  }

  at::Device device() const override { return device_; }
  const model::HeadConfig& head() const override { return head_; }
  NamedParameters parameters() override { return parameters_; }

  at::Tensor forward(const at::Tensor& x) override {
    at::Tensor state = at::zeros({1, x.size(0), width_}, x.options());
    return run(x, state);
  }

  at::Tensor answer(const at::Tensor& x) override {
    const at::NoGradGuard no_grad;
    at::Tensor state = at::zeros({1, x.size(0), width_}, x.options());
    std::vector<at::Tensor> pieces;
    for (std::int64_t from = 0; from < x.size(1); from += kPiece) {
      pieces.push_back(run(x.narrow(1, from, std::min(kPiece, x.size(1) - from)), state));
    }
    return at::cat(pieces, 1);
  }

 private:
  const at::Tensor& at_index(std::size_t i) const { return parameters_[i].second; }

  at::Tensor run(const at::Tensor& x, at::Tensor& state) const {
    const at::Tensor in = at::linear(x, at_index(0), at_index(1));
    auto [hidden, last] = at::gru(
        in, state, {at_index(2), at_index(3), at_index(4), at_index(5)}, /*has_biases=*/true,
        /*num_layers=*/1, /*dropout=*/0.0, /*train=*/at::GradMode::is_enabled(),
        /*bidirectional=*/false, /*batch_first=*/true);
    state = last;
    return at::linear(hidden, at_index(6), at_index(7));
  }

  model::HeadConfig head_;
  std::int64_t width_;
  at::Device device_;
  NamedParameters parameters_;
};

}  // namespace

std::int64_t gru_width(std::int64_t n_features, std::int64_t n_outputs, std::int64_t parameters) {
  const auto count = [&](std::int64_t h) {
    return 6 * h * h + (n_features + n_outputs + 7) * h + n_outputs;
  };
  std::int64_t width = 1;
  while (std::llabs(count(width + 1) - parameters) <= std::llabs(count(width) - parameters))
    ++width;
  return width;
}

std::unique_ptr<SequenceModel> make_gru(const model::HeadConfig& head, std::int64_t parameters,
                                        at::Device device, std::uint64_t seed) {
  return std::make_unique<Gru>(head, gru_width(head.n_features, head.n_outputs(), parameters),
                               device, seed);
}

}  // namespace foxhunt::train
