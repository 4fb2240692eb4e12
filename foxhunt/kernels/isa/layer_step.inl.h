#pragma once
#include "foxhunt/kernels/isa/lanes.inl.h"
#include "foxhunt/kernels/isa/math.inl.h"
#include "foxhunt/kernels/isa/product.inl.h"
#include "foxhunt/kernels/step/layer_step.h"

namespace foxhunt::kernels {
namespace {

template <class V>
float rms_gain(const float* x, int64_t n, float eps) noexcept {
  V squares = V::zero();
  over_lanes<V>(n, [&](int64_t c, int64_t lanes) {
    const V v = load_some<V>(x + c, lanes);
    squares = fma(v, v, squares);
  });
  return 1.0F / libm_sqrt(squares.sum() / static_cast<float>(n) + eps);
}

/// mixed = silu(conv(past, now)), the whole padded width at once.
template <class V, int64_t W>
FX_INLINE void mix(const StepShape& s, const StepCore& core, const StepMemory& m, int64_t oldest) {
  const int64_t taps = W > 0 ? W : s.conv_width;
  const int64_t row = padded(conv_channels(s));
  const float* now = m.projected + inner_width(s);
  const int64_t past = taps - 1;
  for (int64_t c = 0; c < conv_channels(s); c += V::kLanes) {
    V v = V::load(core.conv_bias + c);
    int64_t at = oldest;
#pragma GCC unroll 4
    for (int64_t k = 0; k < past; ++k) {
      v = fma(V::load(core.conv_weight + k * row + c), V::load(m.window + at * row + c), v);
      at = at + 1 == past ? 0 : at + 1;
    }
    v = fma(V::load(core.conv_weight + past * row + c), V::load(now + c), v);
    (v * sigmoid(v)).store(m.mixed + c);
  }
}

/// The answer of `kVecs` vectors of channels, the last one of `lanes` lanes: y = e (S C) + skip x,
/// then the gate; with `kAdvance` the state goes on at once. Answers the squares that the norm
/// needs.
template <class V, unsigned kVecs, bool kAdvance>
FX_INLINE V read_state(const StepShape& s, const StepMemory& m, float* state, int64_t row,
                       const float* B, const float* C, int64_t channel, int64_t lanes) {
  const auto part = [&](unsigned v) { return v + 1 < kVecs ? int64_t{V::kLanes} : lanes; };
  V sum[kVecs];
  V decay[kVecs];
  V drive[kVecs];
#pragma GCC unroll 8
  for (unsigned v = 0; v < kVecs; ++v) {
    const int64_t at = channel + int64_t{v} * V::kLanes;
    sum[v] = V::zero();
    decay[v] = load_some<V>(m.decay + at, part(v));
    drive[v] = load_some<V>(m.mixed + at, part(v)) * load_some<V>(m.drive + at, part(v));
    store_some<V>(drive[v], m.drive + at, part(v));
  }
  for (int64_t n = 0; n < s.d_state; ++n, state += row) {
    const V b = V::all(B[n]);
    const V c = V::all(C[n]);
#pragma GCC unroll 8
    for (unsigned v = 0; v < kVecs; ++v) {
      const V old = load_some<V>(state + v * V::kLanes, part(v));
      sum[v] = fma(old, c, sum[v]);
      if constexpr (kAdvance) {
        store_some<V>(fma(drive[v], b, old * decay[v]), state + v * V::kLanes, part(v));
      }
    }
  }
  V squares = V::zero();
#pragma GCC unroll 8
  for (unsigned v = 0; v < kVecs; ++v) {
    const int64_t at = channel + int64_t{v} * V::kLanes;
    // Where q will be lies dt (B . C) + D of the channel's head.
    const V skip = load_some<V>(m.q + at, part(v));
    const V y = fma(sum[v], decay[v], load_some<V>(m.mixed + at, part(v)) * skip);
    const V z = load_some<V>(m.projected + at, part(v));
    const V q = y * (z * sigmoid(z));
    const V measured = s.gate == Gate::kNormFirst ? y : q;
    squares = fma(measured, measured, squares);
    store_some<V>(q, m.q + at, part(v));
  }
  return squares;
}

/// Step sizes and decays of the heads.
template <class V>
FX_INLINE void step_heads(const StepShape& s, const StepCore& core, const StepMemory& m) {
  const float* raw = m.projected + inner_width(s) + conv_channels(s);
  for (int64_t h = 0; h < s.heads; h += V::kLanes) {
    const V dt = softplus(V::load(raw + h) + V::load(core.dt_bias + h));
    const V step = min(V::all(s.dt_high), max(V::all(s.dt_low), dt));
    step.store(m.steps + h);
    exp(step * V::load(core.A + h)).store(m.decays + h);
  }
}

/// The same spread over the channels of each head: decay = e, drive = dt, q = dt (B . C) + D.
template <class V>
FX_INLINE void spread_heads(const StepShape& s, const StepCore& core, const StepMemory& m) {
  const int64_t r = s.heads / s.groups;
  const float* B = m.mixed + inner_width(s);
  const float* C = B + s.groups * s.d_state;
  for (int64_t g = 0; g < s.groups; ++g) {
    V dot = V::zero();
    over_lanes<V>(s.d_state, [&](int64_t n, int64_t lanes) {
      const int64_t at = g * s.d_state + n;
      dot = fma(load_some<V>(B + at, lanes), load_some<V>(C + at, lanes), dot);
    });
    const float direct = dot.sum();
    for (int64_t h = g * r; h < (g + 1) * r; ++h) {
      const V step = V::all(m.steps[h]);
      const V decay = V::all(m.decays[h]);
      const V skip = V::all(m.steps[h] * direct + core.D[h]);
      over_lanes<V>(s.headdim, [&](int64_t p, int64_t lanes) {
        const int64_t at = h * s.headdim + p;
        store_some<V>(decay, m.decay + at, lanes);
        store_some<V>(step, m.drive + at, lanes);
        store_some<V>(skip, m.q + at, lanes);
      });
    }
  }
}

/// The window takes the newest input in the place of the oldest.
template <class V>
FX_INLINE void shift_window(const StepShape& s, const StepMemory& m, int64_t oldest) {
  if (s.conv_width == 1) return;
  const float* now = m.projected + inner_width(s);
  float* past = m.window + oldest * padded(conv_channels(s));
  over_lanes<V>(conv_channels(s), [&](int64_t c, int64_t lanes) {
    store_some<V>(load_some<V>(now + c, lanes), past + c, lanes);
  });
}

/// Vectors of channels whose sums, decays and drives fit into registers.
template <class V>
inline constexpr unsigned kStateVecs = V::kLanes >= 16 ? 8 : 4;

template <class V, bool kAdvance>
float layer_answer(const StepShape& s, const StepCore& core, const StepMemory& m,
                   int64_t oldest) noexcept {
  step_heads<V>(s, core, m);
  if (s.conv_width == 4) {
    mix<V, 4>(s, core, m, oldest);
  } else {
    mix<V, 0>(s, core, m, oldest);
  }
  spread_heads<V>(s, core, m);

  constexpr int64_t kBlock = int64_t{kStateVecs<V>} * V::kLanes;
  const int64_t width = s.heads / s.groups * s.headdim;
  V whole = V::zero();
  for (int64_t g = 0; g < s.groups; ++g) {
    const float* B = m.mixed + inner_width(s) + g * s.d_state;
    const float* C = B + s.groups * s.d_state;
    float* state = m.state + g * s.d_state * width;
    V squares = V::zero();
    int64_t c = 0;
    for (; c + kBlock <= width; c += kBlock) {
      squares = squares + read_state<V, kStateVecs<V>, kAdvance>(s, m, state + c, width, B, C,
                                                                 g * width + c, V::kLanes);
    }
    for (; c < width; c += V::kLanes) {
      const int64_t lanes = width - c < V::kLanes ? width - c : int64_t{V::kLanes};
      squares =
          squares + read_state<V, 1, kAdvance>(s, m, state + c, width, B, C, g * width + c, lanes);
    }
    if (s.groups == 1) {
      whole = squares;
    } else if (s.gate != Gate::kNoNorm) {
      const V gain = V::all(1.0F / libm_sqrt(squares.sum() / static_cast<float>(width) + s.eps));
      over_lanes<V>(width, [&](int64_t i, int64_t lanes) {
        float* q = m.q + g * width + i;
        store_some<V>(load_some<V>(q, lanes) * gain, q, lanes);
      });
    }
  }
  if constexpr (kAdvance) shift_window<V>(s, m, oldest);
  if (s.groups > 1 || s.gate == Gate::kNoNorm) return 1.0F;
  return 1.0F / libm_sqrt(whole.sum() / static_cast<float>(width) + s.eps);
}

/// `kVecs` vectors of channels of the state, the last one of `lanes` lanes.
template <class V, unsigned kVecs>
FX_INLINE void advance_state(const StepShape& s, const StepMemory& m, float* state, int64_t row,
                             const float* B, int64_t channel, int64_t lanes) {
  const auto part = [&](unsigned v) { return v + 1 < kVecs ? int64_t{V::kLanes} : lanes; };
  V decay[kVecs];
  V drive[kVecs];
#pragma GCC unroll 8
  for (unsigned v = 0; v < kVecs; ++v) {
    decay[v] = load_some<V>(m.decay + channel + v * V::kLanes, part(v));
    drive[v] = load_some<V>(m.drive + channel + v * V::kLanes, part(v));
  }
  for (int64_t n = 0; n < s.d_state; ++n, state += row) {
    const V b = V::all(B[n]);
#pragma GCC unroll 8
    for (unsigned v = 0; v < kVecs; ++v) {
      float* place = state + v * V::kLanes;
      const V old = load_some<V>(place, part(v));
      store_some<V>(fma(drive[v], b, old * decay[v]), place, part(v));
    }
  }
}

template <class V>
void layer_advance(const StepShape& s, const StepMemory& m, int64_t oldest) noexcept {
  constexpr int64_t kBlock = int64_t{kStateVecs<V>} * V::kLanes;
  const int64_t width = s.heads / s.groups * s.headdim;
  for (int64_t g = 0; g < s.groups; ++g) {
    const float* B = m.mixed + inner_width(s) + g * s.d_state;
    float* state = m.state + g * s.d_state * width;
    int64_t c = 0;
    for (; c + kBlock <= width; c += kBlock) {
      advance_state<V, kStateVecs<V>>(s, m, state + c, width, B, g * width + c, V::kLanes);
    }
    for (; c < width; c += V::kLanes) {
      const int64_t lanes = width - c < V::kLanes ? width - c : int64_t{V::kLanes};
      advance_state<V, 1>(s, m, state + c, width, B, g * width + c, lanes);
    }
  }
  shift_window<V>(s, m, oldest);
}

template <class V>
constexpr StepKernels make_step(const char* name, bool (*runs)() noexcept) {
  return {name,
          runs,
          &rms_gain<V>,
          &layer_answer<V, false>,
          &layer_answer<V, true>,
          &layer_advance<V>,
          {name, name, WeightType::kF32, runs, V::kLanes, 1, false, &product<F32Form<V>>}};
}

}  // namespace
}  // namespace foxhunt::kernels
