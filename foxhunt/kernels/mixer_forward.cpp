#include "foxhunt/kernels/mixer_parts.h"

namespace foxhunt::kernels {
namespace {

template <class T>
struct Forward {
  const KernelTableOf<T>& kernels;
  const MixerShape& shape;
  const MixerWeights<T>& weights;
  const ChunkPlan& plan;
  const MixerBatch<T>& batch;
  const MixerForwardOut<T>& out;
  MixerScratch<T> s;

  void chunk(std::int64_t row, std::int64_t index) {
    const Chunk& c = plan.chunks[static_cast<std::size_t>(index)];
    const std::int64_t inner = shape.inner();
    const std::int64_t size = state_size(shape.ssd);
    const std::int64_t token = row * batch.tokens + c.start;
    const T* proj = batch.proj + token * batch.proj_row;
    bool zero = false;
    if (c.start == c.run) {
      const bool given = c.continues && batch.ssm_state != nullptr;
      const T* state = batch.ssm_state + row * size;
      zero = !given || all_zero(state, size);
      if (zero) {
        std::fill_n(s.state, size, T(0));
      } else {
        state_in(kernels, shape.ssd, state, s.state);
      }
    }
    if (out.chunk_states != nullptr) std::copy_n(s.state, size, out.chunk_states + index * size);
    conv_rows(shape, batch, row, c, s);
    enter_chunk(kernels, shape, weights, proj, batch.proj_row, c.tokens, /*backward=*/false, s);
    const std::int64_t C = shape.channels();
    const T* B = s.act + inner;
    kernels.ssd_chunk_forward(
        shape.ssd,
        {c.tokens, s.act, B, B + shape.ssd.groups * shape.ssd.d_state, C, s.dt, weights.A,
         weights.D, s.state, zero, /*advance=*/true, s.y, inner},
        s.ssd);
    kernels.gate_norm_forward(
        {c.tokens, inner, shape.ssd.groups, shape.gate, static_cast<T>(shape.eps), s.y, inner, proj,
         batch.proj_row, weights.norm, out.out + token * inner, inner,
         out.rstd == nullptr ? nullptr : out.rstd + token * shape.ssd.groups});
  }

  /// The last W raw inputs of the row's last run, in front of it its history or zeros.
  void next_history(std::int64_t row, const Chunk& last) {
    const std::int64_t W = shape.width;
    const std::int64_t C = shape.channels();
    const T* first = batch.proj + row * batch.tokens * batch.proj_row + shape.inner();
    const bool old = last.continues && batch.conv_state != nullptr;
    for (std::int64_t k = 0; k < W; ++k) {
      const std::int64_t t = last.start + last.tokens - W + k;
      T* to = out.conv_next + row * C * W + k;
      const T* from = t >= last.run ? first + t * batch.proj_row : nullptr;
      const T* history = old ? batch.conv_state + row * C * W + W + t - last.run : nullptr;
      for (std::int64_t c = 0; c < C; ++c) {
        to[c * W] = from != nullptr ? from[c] : history != nullptr ? history[c * W] : T(0);
      }
    }
  }

  void run_row(std::int64_t row) {
    const std::int64_t size = state_size(shape.ssd);
    const std::int64_t conv = shape.channels() * shape.width;
    const auto index = static_cast<std::size_t>(row);
    const std::int64_t begin = plan.row_begin[index];
    const std::int64_t end = plan.row_begin[index + 1];
    for (std::int64_t i = begin; i < end; ++i) chunk(row, i);
    const bool empty = begin == end;
    const Chunk last = empty ? Chunk{} : plan.chunks[static_cast<std::size_t>(end - 1)];
    const std::int64_t used = last.start + last.tokens;
    const std::int64_t from = row * batch.tokens + used;
    std::fill_n(out.out + from * shape.inner(), (batch.tokens - used) * shape.inner(), T(0));
    if (out.conv_next != nullptr && !empty) next_history(row, last);
    if (out.ssm_next != nullptr && !empty) {
      state_out(kernels, shape.ssd, s.state, out.ssm_next + row * size);
    }
    if (!empty) return;
    const auto keep = [row](const T* old, T* next, std::int64_t count) {
      if (next == nullptr) return;
      if (old == nullptr) {
        std::fill_n(next + row * count, count, T(0));
      } else {
        std::copy_n(old + row * count, count, next + row * count);
      }
    };
    keep(batch.ssm_state, out.ssm_next, size);
    keep(batch.conv_state, out.conv_next, conv);
  }
};

}  // namespace

template <class T>
void mixer_forward(const KernelTableOf<T>& kernels, const MixerShape& shape,
                   const MixerWeights<T>& weights, const ChunkPlan& plan,
                   const MixerBatch<T>& batch, const MixerForwardOut<T>& out) {
  Forward<T> pass{kernels, shape, weights, plan, batch, out, MixerScratch<T>(shape)};
  for (std::int64_t row = 0; row < batch.batch; ++row) pass.run_row(row);
}

template void mixer_forward(const KernelTableOf<float>&, const MixerShape&,
                            const MixerWeights<float>&, const ChunkPlan&, const MixerBatch<float>&,
                            const MixerForwardOut<float>&);
template void mixer_forward(const KernelTableOf<double>&, const MixerShape&,
                            const MixerWeights<double>&, const ChunkPlan&,
                            const MixerBatch<double>&, const MixerForwardOut<double>&);

}  // namespace foxhunt::kernels
