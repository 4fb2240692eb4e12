#include "foxhunt/train/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "foxhunt/base/error.h"

namespace foxhunt::train {

WindowSampler::WindowSampler(std::int64_t windows, const Rng& rng)
    : rng_(rng), order_(static_cast<std::size_t>(windows)) {
  shuffle();
}

std::span<const std::int64_t> WindowSampler::next(std::int64_t batch) {
  const std::int64_t from = state_.position;
  state_.position = std::min(size(), from + std::max<std::int64_t>(batch, 0));
  return std::span(order_).subspan(static_cast<std::size_t>(from),
                                   static_cast<std::size_t>(state_.position - from));
}

void WindowSampler::restore(const SamplerState& state) {
  if (state.epoch < 0 || state.position < 0 || state.position > size()) {
    throw FormatError(
        fmt::format("[sampler] epoch {}, position {} is no place in an epoch of {} windows",
                    state.epoch, state.position, size()));
  }
  state_ = state;
  shuffle();
}

void WindowSampler::shuffle() {
  std::iota(order_.begin(), order_.end(), 0);
  Rng rng = rng_.split(fmt::format("epoch {}", state_.epoch));
  rng.shuffle(order_);
}

}  // namespace foxhunt::train
