#include "foxhunt/kernels/step/step_network.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "foxhunt/kernels/step/pack.h"

namespace foxhunt::kernels {
namespace {

/// Hands out pieces of a block in order, 64-byte aligned; with a null block it only measures.
class Carver {
 public:
  explicit Carver(std::byte* block) : block_(block) {}
  template <class T>
  T* take(std::int64_t count) {
    const std::int64_t at = used_;
    used_ += (count * static_cast<std::int64_t>(sizeof(T)) + 63) / 64 * 64;
    return block_ == nullptr ? nullptr : reinterpret_cast<T*>(block_ + at);
  }
  std::int64_t used() const { return used_; }

 private:
  std::byte* block_;
  std::int64_t used_ = 0;
};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

std::int64_t core_floats(const StepShape& s) {
  return (s.conv_width + 1) * padded(conv_channels(s)) + 3 * padded(s.heads);
}

StepCore pack_core(const StepShape& s, const StepWeights::Layer& w, Carver& carver) {
  const std::int64_t channels = conv_channels(s);
  auto* const conv = carver.take<float>(s.conv_width * padded(channels));
  auto* const bias = carver.take<float>(padded(channels));
  auto* const dt_bias = carver.take<float>(padded(s.heads));
  auto* const A = carver.take<float>(padded(s.heads));
  auto* const D = carver.take<float>(padded(s.heads));
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t k = 0; k < s.conv_width; ++k) {
      conv[k * padded(channels) + c] = w.conv[c * s.conv_width + k];
    }
    if (w.conv_bias != nullptr) bias[c] = w.conv_bias[c];
  }
  for (std::int64_t h = 0; h < s.heads; ++h) {
    dt_bias[h] = w.dt_bias[h];
    A[h] = -std::exp(w.A_log[h]);
    if (w.D != nullptr) D[h] = w.D[h];
  }
  return {.conv_weight = conv, .conv_bias = bias, .dt_bias = dt_bias, .A = A, .D = D};
}

}  // namespace

StepNetwork::StepNetwork(const StepShape& shape, std::int64_t n_features, std::int64_t n_outputs,
                         const StepWeights& weights, const StepKernels& kernels,
                         const ProductKernel& projections)
    : shape_(shape), kernels_(&kernels), projections_(&projections) {
  const std::int64_t D = shape.d_model;
  const std::int64_t inner = inner_width(shape);
  const std::int64_t projected = projected_width(shape);
  const auto bytes = [&] {
    std::int64_t sum =
        packed_bytes(D, n_features, kernels.product) + packed_bytes(n_outputs, D, kernels.product);
    const std::int64_t layer = packed_bytes(projected, D, projections) +
                               packed_bytes(D, inner, projections) + 4 * core_floats(shape);
    sum += static_cast<std::int64_t>(weights.layers.size()) * layer;
    return sum;
  }();
  block_ = AlignedBlock(static_cast<std::size_t>(bytes), /*huge=*/true);
  Carver carver(block_.data());
  const auto pack = [&](std::int64_t out, std::int64_t in, const float* weight, const float* fold,
                        const float* bias, const ProductKernel& kernel) {
    auto* const place = carver.take<std::byte>(packed_bytes(out, in, kernel));
    const PackedMatrix m = pack_matrix(out, in, weight, fold, bias, kernel, place);
    weight_bytes_ += matrix_bytes(m, kernel);
    return m;
  };
  input_ = pack(D, n_features, weights.input, nullptr, weights.input_bias, kernels.product);
  layers_.reserve(weights.layers.size());
  for (const StepWeights::Layer& w : weights.layers) {
    Layer layer{};
    layer.in_proj = pack(projected, D, w.in_proj, w.norm, w.in_bias, projections);
    layer.core = pack_core(shape, w, carver);
    weight_bytes_ += 4 * core_floats(shape);
    layer.out_proj = pack(D, inner, w.out_proj, w.gate_norm, w.out_bias, projections);
    layers_.push_back(layer);
  }
  head_ = pack(n_outputs, D, weights.head, weights.norm_f, weights.head_bias, kernels.product);
}

std::int64_t StepNetwork::state_bytes() const {
  const std::int64_t layer = inner_width(shape_) * shape_.d_state +
                             (shape_.conv_width - 1) * padded(conv_channels(shape_));
  return 4 * layer * static_cast<std::int64_t>(layers_.size());
}

StepStream::StepStream(const StepNetwork& network) : network_(&network) { carve(); }

StepStream::StepStream(const StepStream& other) : network_(other.network_) {
  carve();
  *this = other;
}

StepStream& StepStream::operator=(const StepStream& other) {
  if (this == &other) return *this;
  if (network_ != other.network_) {
    network_ = other.network_;
    carve();
  }
  std::memcpy(block_.data(), other.block_.data(), block_.size());
  position_ = other.position_;
  oldest_ = other.oldest_;
  return *this;
}

/// Once to measure, once to place.
void StepStream::carve() {
  const StepShape& s = network_->shape_;
  const std::int64_t inner = padded(inner_width(s));
  const std::int64_t channels = padded(conv_channels(s));
  layers_.resize(network_->layers_.size());
  const auto lay = [&](Carver carver) {
    input_ = carver.take<float>(padded(network_->n_features()));
    residual_ = carver.take<float>(padded(s.d_model));
    output_ = carver.take<float>(padded(network_->n_outputs()));
    const std::int64_t widest = std::max({network_->n_features(), s.d_model, inner_width(s)});
    scratch_ = carver.take<std::byte>(product_scratch(widest));
    for (StepMemory& m : layers_) {
      m.state = carver.take<float>(inner_width(s) * s.d_state);
      m.window = carver.take<float>((s.conv_width - 1) * channels);
      // Whole vectors are read from the start of its parts, wherever these lie.
      m.projected = carver.take<float>(padded(projected_width(s)) + kLanePad);
      m.mixed = carver.take<float>(channels + kLanePad);
      m.q = carver.take<float>(inner);
      m.steps = carver.take<float>(padded(s.heads));
      m.decays = carver.take<float>(padded(s.heads));
      m.decay = carver.take<float>(inner);
      m.drive = carver.take<float>(inner);
    }
    return carver.used();
  };
  block_ = AlignedBlock(static_cast<std::size_t>(lay(Carver(nullptr))));
  lay(Carver(block_.data()));
}

std::span<float> StepStream::features() noexcept { return {input_, index(network_->n_features())}; }

void StepStream::each_layer(LayerAnswerFn core) noexcept {
  const StepShape& s = network_->shape_;
  const StepKernels& kernels = *network_->kernels_;
  const ProductFn project = network_->projections_->run;
  const auto run = [this](ProductFn product, const PackedMatrix& m, const float* x, float gain,
                          float* y, bool add) {
    Product p;
    p.streams = 1;
    p.add = add;
    p.x[0] = x;
    p.y[0] = y;
    p.gain[0] = gain;
    p.scratch = scratch_;
    product(m, p);
  };
  run(kernels.product.run, network_->input_, input_, 1.0F, residual_, false);
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const StepNetwork::Layer& layer = network_->layers_[i];
    StepMemory& m = layers_[i];
    run(project, layer.in_proj, residual_, kernels.rms_gain(residual_, s.d_model, s.eps),
        m.projected, false);
    const float gain = core(s, layer.core, m, oldest_);
    run(project, layer.out_proj, m.q, gain, residual_, true);
  }
  run(kernels.product.run, network_->head_, residual_,
      kernels.rms_gain(residual_, s.d_model, s.eps), output_, false);
}

std::span<const float> StepStream::last() const noexcept {
  return {output_, index(network_->n_outputs())};
}

std::span<const float> StepStream::answer() noexcept {
  each_layer(network_->kernels_->layer_answer);
  return last();
}

void StepStream::advance() noexcept {
  for (const StepMemory& m : layers_) {
    network_->kernels_->layer_advance(network_->shape_, m, oldest_);
  }
  move_on();
}

void StepStream::move_on() noexcept {
  ++position_;
  if (++oldest_ >= network_->shape_.conv_width - 1) oldest_ = 0;
}

std::span<const float> StepStream::step() noexcept {
  each_layer(network_->kernels_->layer_step);
  move_on();
  return last();
}

void StepStream::step_together(std::span<StepStream* const> streams) noexcept {
  const StepNetwork& network = *streams[0]->network_;
  const StepShape& s = network.shape_;
  const StepKernels& kernels = *network.kernels_;
  Product p;
  p.streams = static_cast<std::int64_t>(streams.size());
  p.scratch = streams[0]->scratch_;
  const auto run = [&](ProductFn product, const PackedMatrix& m, bool add, auto&& place) {
    for (std::size_t i = 0; i < streams.size(); ++i) place(*streams[i], i);
    p.add = add;
    product(m, p);
  };
  const auto from_residual = [&](StepStream& stream, std::size_t i) {
    p.x[i] = stream.residual_;
    p.gain[i] = kernels.rms_gain(stream.residual_, s.d_model, s.eps);
  };
  run(kernels.product.run, network.input_, false, [&](StepStream& stream, std::size_t i) {
    p.x[i] = stream.input_;
    p.y[i] = stream.residual_;
    p.gain[i] = 1.0F;
  });
  for (std::size_t l = 0; l < network.layers_.size(); ++l) {
    const StepNetwork::Layer& layer = network.layers_[l];
    run(network.projections_->run, layer.in_proj, false, [&](StepStream& stream, std::size_t i) {
      from_residual(stream, i);
      p.y[i] = stream.layers_[l].projected;
    });
    run(network.projections_->run, layer.out_proj, true, [&](StepStream& stream, std::size_t i) {
      const StepMemory& m = stream.layers_[l];
      p.gain[i] = kernels.layer_step(s, layer.core, m, stream.oldest_);
      p.x[i] = m.q;
      p.y[i] = stream.residual_;
    });
  }
  run(kernels.product.run, network.head_, false, [&](StepStream& stream, std::size_t i) {
    from_residual(stream, i);
    p.y[i] = stream.output_;
  });
  for (StepStream* stream : streams) stream->move_on();
}

void StepStream::reset() noexcept {
  const StepShape& s = network_->shape_;
  for (const StepMemory& m : layers_) {
    std::fill_n(m.state, inner_width(s) * s.d_state, 0.0F);
    std::fill_n(m.window, (s.conv_width - 1) * padded(conv_channels(s)), 0.0F);
  }
  position_ = 0;
  oldest_ = 0;
}

std::int64_t StepStream::state_size() const noexcept {
  const StepShape& s = network_->shape_;
  return static_cast<std::int64_t>(layers_.size()) *
         (inner_width(s) * s.d_state + (s.conv_width - 1) * conv_channels(s));
}

/// Rows of the window from the oldest on, so that the ring's turn is no part of the state.
template <class F>
void StepStream::each_part(F&& part) const noexcept {
  const StepShape& s = network_->shape_;
  const std::int64_t past = s.conv_width - 1;
  for (const StepMemory& m : layers_) {
    part(m.state, inner_width(s) * s.d_state);
    for (std::int64_t k = 0; k < past; ++k) {
      part(m.window + (oldest_ + k) % past * padded(conv_channels(s)), conv_channels(s));
    }
  }
}

void StepStream::save(std::span<float> out) const noexcept {
  float* to = out.data();
  each_part([&to](const float* from, std::int64_t n) {
    std::copy_n(from, n, to);
    to += n;
  });
}

void StepStream::restore(std::span<const float> in) noexcept {
  oldest_ = 0;
  const float* from = in.data();
  each_part([&from](float* to, std::int64_t n) {
    std::copy_n(from, n, to);
    from += n;
  });
}

}  // namespace foxhunt::kernels
