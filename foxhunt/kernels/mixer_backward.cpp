#include "foxhunt/kernels/mixer_parts.h"

namespace foxhunt::kernels {
namespace {

template <class T>
struct Backward {
  const KernelTableOf<T>& kernels;
  const MixerShape& shape;
  const MixerWeights<T>& weights;
  const ChunkPlan& plan;
  const MixerBatch<T>& batch;
  const MixerBackwardIn<T>& in;
  const MixerGradients<T>& grad;
  MixerScratch<T> s;
  bool dstate_is_zero = true;  ///< R is known to be zero

  T* grad_row(std::int64_t token) const { return grad.proj + token * shape.proj_width(); }

  void chunk(std::int64_t row, std::int64_t index) {
    const Chunk& c = plan.chunks[static_cast<std::size_t>(index)];
    const std::int64_t inner = shape.inner();
    const std::int64_t C = shape.channels();
    const std::int64_t GN = shape.ssd.groups * shape.ssd.d_state;
    const std::int64_t size = state_size(shape.ssd);
    const std::int64_t token = row * batch.tokens + c.start;
    const T* proj = batch.proj + token * batch.proj_row;
    const T* entered = in.chunk_states + index * size;
    const bool first = c.start == c.run;
    const bool zero = first && all_zero(entered, size);
    conv_rows(shape, batch, row, c, s);
    enter_chunk(kernels, shape, weights, proj, batch.proj_row, c.tokens, /*backward=*/true, s);
    kernels.ssd_chunk_forward(shape.ssd,
                              {c.tokens, s.act, s.act + inner, s.act + inner + GN, C, s.dt,
                               weights.A, weights.D, const_cast<T*>(entered), zero,
                               /*advance=*/false, s.y, inner},
                              s.ssd);
    kernels.gate_norm_backward({c.tokens, inner, shape.ssd.groups, shape.gate, s.y, inner, proj,
                                batch.proj_row, weights.norm,
                                in.rstd == nullptr ? nullptr : in.rstd + token * shape.ssd.groups,
                                in.dout + token * inner, inner, s.dy, inner, grad_row(token),
                                shape.proj_width(), grad.norm});
    const bool wanted = !first || (c.continues && grad.ssm_state != nullptr);
    kernels.ssd_chunk_backward(shape.ssd,
                               {c.tokens,
                                s.act,
                                s.act + inner,
                                s.act + inner + GN,
                                C,
                                s.dt,
                                weights.A,
                                weights.D,
                                entered,
                                zero,
                                s.dy,
                                inner,
                                s.dstate,
                                dstate_is_zero,
                                wanted,
                                s.dact,
                                s.dact + inner,
                                s.dact + inner + GN,
                                C,
                                s.ddt,
                                grad.A,
                                grad.D},
                               s.ssd);
    dstate_is_zero = false;
    step_gradient(token, c.tokens);
    conv_gradient(row, c);
  }

  void step_gradient(std::int64_t token, std::int64_t tokens) {
    const std::int64_t H = shape.ssd.heads;
    for (std::int64_t t = 0; t < tokens; ++t) {
      T* to = grad_row(token + t) + shape.inner() + shape.channels();
      for (std::int64_t h = 0; h < H; ++h) {
        to[h] = s.ddt[t * H + h] * s.slope[t * H + h];
        grad.dt_bias[h] += to[h];
      }
    }
  }

  void conv_gradient(std::int64_t row, const Chunk& c) {
    const std::int64_t C = shape.channels();
    const std::int64_t W = shape.width;
    const std::int64_t token = row * batch.tokens + c.start;
    kernels.silu_backward({c.tokens, C, s.pre, C, s.dact, s.dact, C});
    if (c.last_of_run) std::fill_n(s.carry[0], (W - 1) * C, T(0));
    std::vector<const T*> dpre(static_cast<std::size_t>(c.tokens + W - 1));
    std::vector<T*> drow(static_cast<std::size_t>(c.tokens));
    for (std::int64_t i = 0; i < c.tokens + W - 1; ++i) {
      dpre[static_cast<std::size_t>(i)] =
          i < c.tokens ? s.dact + i * C : s.carry[0] + (i - c.tokens) * C;
      if (i < c.tokens) drow[static_cast<std::size_t>(i)] = grad_row(token + i) + shape.inner();
    }
    kernels.conv_backward({c.tokens, C, W, s.rows.data(), dpre.data(), weights.conv, drow.data(),
                           grad.conv, grad.conv_bias});
    for (std::int64_t i = 0; i < W - 1; ++i) {  // what the chunk in front sees behind it
      std::copy_n(dpre[static_cast<std::size_t>(i)], C, s.carry[1] + i * C);
    }
    std::swap(s.carry[0], s.carry[1]);
  }

  /// From the convolutions that read the history: into its newest W - 1 columns.
  void history_gradient(std::int64_t row) {
    const std::int64_t C = shape.channels();
    const std::int64_t W = shape.width;
    std::vector<const T*> dpre;
    std::vector<T*> drow;
    for (std::int64_t i = 0; i < W - 1; ++i) dpre.push_back(s.zeros);
    for (std::int64_t i = 0; i < W - 1; ++i) {
      dpre.push_back(s.carry[0] + i * C);
      drow.push_back(s.history + i * C);
    }
    kernels.conv_backward(
        {W - 1, C, W, nullptr, dpre.data(), weights.conv, drow.data(), nullptr, nullptr});
    T* to = grad.conv_state + row * C * W;
    for (std::int64_t c = 0; c < C; ++c) {
      for (std::int64_t k = 1; k < W; ++k) to[c * W + k] += s.history[(k - 1) * C + c];
    }
  }

  /// From the next window's history: into the tokens it was taken from, or through to ours.
  void next_history_gradient(std::int64_t row, const Chunk& last) {
    const std::int64_t C = shape.channels();
    const std::int64_t W = shape.width;
    for (std::int64_t k = 0; k < W; ++k) {
      const std::int64_t t = last.start + last.tokens - W + k;
      const T* from = in.dconv_next + row * C * W + k;
      T* to = nullptr;
      std::int64_t step = 1;
      if (t >= last.run) {
        to = grad_row(row * batch.tokens + t) + shape.inner();
      } else if (last.continues && grad.conv_state != nullptr) {
        to = grad.conv_state + row * C * W + W + t - last.run;
        step = W;
      }
      for (std::int64_t c = 0; c < C && to != nullptr; ++c) to[c * step] += from[c * W];
    }
  }

  void run_row(std::int64_t row) {
    const std::int64_t size = state_size(shape.ssd);
    const std::int64_t conv = shape.channels() * shape.width;
    const auto index = static_cast<std::size_t>(row);
    const std::int64_t begin = plan.row_begin[index];
    const std::int64_t end = plan.row_begin[index + 1];
    const bool empty = begin == end;
    const auto pass_on = [row, empty](const T* next, T* old, std::int64_t count) {
      if (old == nullptr) return;
      std::fill_n(old + row * count, count, T(0));
      if (empty && next != nullptr) std::copy_n(next + row * count, count, old + row * count);
    };
    pass_on(in.dssm_next, grad.ssm_state, size);
    pass_on(in.dconv_next, grad.conv_state, conv);
    const Chunk last = empty ? Chunk{} : plan.chunks[static_cast<std::size_t>(end - 1)];
    const std::int64_t used = last.start + last.tokens;
    std::fill_n(grad_row(row * batch.tokens + used), (batch.tokens - used) * shape.proj_width(),
                T(0));
    for (std::int64_t i = end - 1; i >= begin; --i) {
      const Chunk& c = plan.chunks[static_cast<std::size_t>(i)];
      if (c.last_of_run) {
        const bool given = i == end - 1 && in.dssm_next != nullptr;
        dstate_is_zero = !given || all_zero(in.dssm_next + row * size, size);
        if (!dstate_is_zero) state_in(kernels, shape.ssd, in.dssm_next + row * size, s.dstate);
      }
      chunk(row, i);
    }
    if (empty) return;
    if (plan.chunks[static_cast<std::size_t>(begin)].continues) {
      if (grad.ssm_state != nullptr) {
        state_out(kernels, shape.ssd, s.dstate, grad.ssm_state + row * size);
      }
      if (grad.conv_state != nullptr) history_gradient(row);
    }
    if (in.dconv_next != nullptr) next_history_gradient(row, last);
  }
};

}  // namespace

template <class T>
void mixer_backward(const KernelTableOf<T>& kernels, const MixerShape& shape,
                    const MixerWeights<T>& weights, const ChunkPlan& plan,
                    const MixerBatch<T>& batch, const MixerBackwardIn<T>& in,
                    const MixerGradients<T>& gradients) {
  Backward<T> pass{kernels, shape, weights, plan, batch, in, gradients, MixerScratch<T>(shape)};
  for (std::int64_t row = 0; row < batch.batch; ++row) pass.run_row(row);
}

template void mixer_backward(const KernelTableOf<float>&, const MixerShape&,
                             const MixerWeights<float>&, const ChunkPlan&, const MixerBatch<float>&,
                             const MixerBackwardIn<float>&, const MixerGradients<float>&);
template void mixer_backward(const KernelTableOf<double>&, const MixerShape&,
                             const MixerWeights<double>&, const ChunkPlan&,
                             const MixerBatch<double>&, const MixerBackwardIn<double>&,
                             const MixerGradients<double>&);

}  // namespace foxhunt::kernels
