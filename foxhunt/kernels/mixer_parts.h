#pragma once
// What the forward and the backward pass of the mixer share: scratch and the way into a chunk.

#include <algorithm>
#include <vector>

#include "foxhunt/kernels/mixer.h"
#include "foxhunt/kernels/ssd_workspace.h"

namespace foxhunt::kernels {

/// Buffers of one chunk.
template <class T>
struct MixerArrays {
  SsdWorkspace<T> ssd{};
  T *pre{}, *act{}, *dact{};  ///< [Q, C]
  T *dt{}, *slope{}, *ddt{};  ///< [Q, H]
  T *y{}, *dy{};              ///< [Q, H P]
  T *state{}, *dstate{};      ///< [G, N, r P]
  T *history{}, *carry[2]{};  ///< [W - 1, C]
  T* zeros{};                 ///< [C]
};

template <class T>
MixerArrays<T> carve_mixer_arrays(const MixerShape& shape, Carver<T>& carver) {
  const std::int64_t Q = shape.chunk;
  const std::int64_t C = shape.channels();
  MixerArrays<T> a;
  a.ssd = carve_ssd_workspace<T>(shape.ssd, Q, carver);
  for (T** p : {&a.pre, &a.act, &a.dact}) *p = carver.take(Q * C);
  for (T** p : {&a.dt, &a.slope, &a.ddt}) *p = carver.take(Q * shape.ssd.heads);
  for (T** p : {&a.y, &a.dy}) *p = carver.take(Q * shape.inner());
  for (T** p : {&a.state, &a.dstate}) *p = carver.take(state_size(shape.ssd));
  for (T** p : {&a.history, &a.carry[0], &a.carry[1]}) *p = carver.take((shape.width - 1) * C);
  a.zeros = carver.take(C);
  return a;
}

/// The buffers with their memory, and the row pointers of the convolution.
template <class T>
struct MixerScratch : MixerArrays<T> {
  explicit MixerScratch(const MixerShape& shape)
      : rows(static_cast<std::size_t>(shape.chunk + 2 * shape.width)), block_(size(shape)) {
    Carver<T> carver(block_.data());
    static_cast<MixerArrays<T>&>(*this) = carve_mixer_arrays(shape, carver);
    std::fill_n(this->zeros, shape.channels(), T(0));
  }

  std::vector<const T*> rows;  ///< [Q + W - 1]

  /// Numbers in the block.
  static std::int64_t size(const MixerShape& shape) {
    Carver<T> counter(nullptr);
    carve_mixer_arrays(shape, counter);
    return counter.used();
  }

 private:
  Scratch<T> block_;
};

/// The kernels' state [G, N, r P] from the model's [H, P, N], and back.
template <class T>
void state_in(const KernelTableOf<T>& kernels, const SsdShape& shape, const T* model, T* ours) {
  const std::int64_t rP = inner_width(shape) / shape.groups;
  const std::int64_t size = shape.d_state * rP;
  for (std::int64_t g = 0; g < shape.groups; ++g) {
    kernels.transpose(rP, shape.d_state, model + g * size, shape.d_state, ours + g * size, rP);
  }
}
template <class T>
void state_out(const KernelTableOf<T>& kernels, const SsdShape& shape, const T* ours, T* model) {
  const std::int64_t rP = inner_width(shape) / shape.groups;
  const std::int64_t size = shape.d_state * rP;
  for (std::int64_t g = 0; g < shape.groups; ++g) {
    kernels.transpose(shape.d_state, rP, ours + g * size, rP, model + g * size, shape.d_state);
  }
}

template <class T>
bool all_zero(const T* values, std::int64_t count) {
  return std::all_of(values, values + count, [](T v) { return v == T(0); });
}

/// Row pointers of a chunk's convolution: its own tokens, and the W - 1 raw inputs in front of
/// them within its run (the history of the row where the run continues it, else zeros).
template <class T>
void conv_rows(const MixerShape& shape, const MixerBatch<T>& batch, std::int64_t row,
               const Chunk& chunk, MixerScratch<T>& s) {
  const std::int64_t W = shape.width;
  const std::int64_t C = shape.channels();
  const T* first = batch.proj + row * batch.tokens * batch.proj_row + shape.inner();
  if (chunk.start - chunk.run < W - 1 && chunk.continues && batch.conv_state != nullptr) {
    const T* state = batch.conv_state + row * C * W;
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t k = 1; k < W; ++k) s.history[(k - 1) * C + c] = state[c * W + k];
    }
  }
  for (std::int64_t i = 0; i < chunk.tokens + W - 1; ++i) {
    const std::int64_t t = chunk.start + i - (W - 1);
    const T* place = s.zeros;
    if (t >= chunk.run) {
      place = first + t * batch.proj_row;
    } else if (chunk.continues && batch.conv_state != nullptr) {
      place = s.history + (t - chunk.run + W - 1) * C;
    }
    s.rows[static_cast<std::size_t>(i)] = place;
  }
}

/// Convolution, step sizes and the state space of one chunk, from s.rows on.
template <class T>
void enter_chunk(const KernelTableOf<T>& kernels, const MixerShape& shape,
                 const MixerWeights<T>& weights, const T* proj, std::int64_t proj_row,
                 std::int64_t tokens, bool backward, MixerScratch<T>& s) {
  const std::int64_t C = shape.channels();
  kernels.conv_forward({tokens, C, shape.width, s.rows.data(), weights.conv, weights.conv_bias,
                        backward ? s.pre : nullptr, s.act, C});
  kernels.step_size({tokens, shape.ssd.heads, proj + shape.inner() + C, proj_row, weights.dt_bias,
                     static_cast<T>(shape.dt_low), static_cast<T>(shape.dt_high), s.dt,
                     backward ? s.slope : nullptr});
}

}  // namespace foxhunt::kernels
