#include "foxhunt/kernels/block.h"

#include <algorithm>

#include "foxhunt/kernels/linear.h"

namespace foxhunt::kernels {
namespace {

/// Tokens that go through the block together: enough rows for the matrix kernel, few enough that
/// in_proj's output and its gradient (4 proj_width bytes a token each) stay in L2.
constexpr std::int64_t kTokens = 128;

/// rms(x) w of all rows; 1/rms into `rstd` or nowhere.
template <class T>
void norm_rows(const KernelTableOf<T>& kernels, const BlockShape& shape, std::int64_t rows,
               const T* x, const T* weight, T* out, T* rstd) {
  const std::int64_t D = shape.d_model;
  kernels.gate_norm_forward({rows, D, 1, Gate::kGateFirst, static_cast<T>(shape.norm_eps), x, D,
                             nullptr, 0, weight, out, D, rstd});
}

template <class T>
T* shifted(T* pointer, std::int64_t by) {
  return pointer == nullptr ? nullptr : pointer + by;
}

/// Some rows of a batch, with everything that belongs to them.
template <class T>
struct Piece {
  std::int64_t rows, tokens;  ///< tokens of all rows
  const T* x;
  BlockStates<T> states;
  BlockSaved<T> saved;
  ChunkPlan plan;
  std::int64_t first_row, first_token;
};

/// Calls f(piece) for the batch, a few rows at a time.
template <class T, class F>
void over_pieces(const BlockShape& shape, const BlockBatch<T>& b, const BlockSaved<T>& saved,
                 F&& f) {
  const MixerShape& m = shape.mixer;
  const std::int64_t conv = m.channels() * m.width;
  const std::int64_t state = state_size(m.ssd);
  const std::int64_t group = std::max<std::int64_t>(1, kTokens / b.tokens);
  std::int64_t chunks = 0;
  for (std::int64_t row = 0; row < b.batch; row += group) {
    const std::int64_t rows = std::min(group, b.batch - row);
    const std::int64_t token = row * b.tokens;
    Piece<T> piece{
        rows,
        rows * b.tokens,
        b.x + token * shape.d_model,
        {shifted(b.states.conv, row * conv), shifted(b.states.ssm, row * state),
         shifted(b.states.conv_next, row * conv), shifted(b.states.ssm_next, row * state)},
        {saved.proj + token * m.proj_width(), saved.mixed + token * m.inner(), saved.rstd + token,
         shifted(saved.mixer_rstd, token * m.ssd.groups),
         shifted(saved.chunk_states, chunks * state)},
        plan_chunks(rows, b.tokens, m.chunk, shifted(b.segments, token), shifted(b.lengths, row)),
        row,
        token};
    chunks += piece.plan.size();
    f(piece);
  }
}

}  // namespace

template <class T>
void block_forward(const KernelTableOf<T>& kernels, const BlockShape& shape,
                   const BlockWeights<T>& weights, const BlockBatch<T>& batch,
                   const BlockSaved<T>& saved, T* out) {
  const std::int64_t D = shape.d_model;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const TurnedWeight<T> in_proj(kernels, D, width, weights.in_proj);
  const TurnedWeight<T> out_proj(kernels, inner, D, weights.out_proj);
  const Scratch<T> normed(std::max(kTokens, batch.tokens) * D);
  over_pieces(shape, batch, saved, [&](const Piece<T>& p) {
    norm_rows(kernels, shape, p.tokens, p.x, weights.norm, normed.data(), p.saved.rstd);
    linear_forward(kernels, p.tokens, normed.data(), in_proj, weights.in_bias, p.saved.proj,
                   /*accumulate=*/false);
    mixer_forward(kernels, shape.mixer, weights.mixer, p.plan,
                  {p.rows, batch.tokens, p.saved.proj, width, p.states.conv, p.states.ssm},
                  {p.saved.mixed, p.states.conv_next, p.states.ssm_next, p.saved.chunk_states,
                   p.saved.mixer_rstd});
    T* to = out + p.first_token * D;
    std::copy_n(p.x, p.tokens * D, to);
    linear_forward(kernels, p.tokens, p.saved.mixed, out_proj, weights.out_bias, to,
                   /*accumulate=*/true);
  });
}

template <class T>
void block_backward(const KernelTableOf<T>& kernels, const BlockShape& shape,
                    const BlockWeights<T>& weights, const BlockBatch<T>& batch,
                    const BlockSaved<T>& saved, const BlockUpstream<T>& upstream,
                    const BlockGradients<T>& g) {
  const std::int64_t D = shape.d_model;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const std::int64_t conv = shape.mixer.channels() * shape.mixer.width;
  const std::int64_t state = state_size(shape.mixer.ssd);
  const std::int64_t most = std::max(kTokens, batch.tokens);
  const Scratch<T> dmixed(most * inner);
  const Scratch<T> dproj(most * width);
  const Scratch<T> normed(most * D);
  over_pieces(shape, batch, saved, [&](const Piece<T>& p) {
    const T* dout = upstream.out + p.first_token * D;
    T* dx = g.x + p.first_token * D;
    linear_backward_input(kernels, p.tokens, inner, D, dout, weights.out_proj, dmixed.data());
    linear_backward_weight(kernels, p.tokens, inner, D, dout, p.saved.mixed, g.out_proj,
                           g.out_bias);
    mixer_backward(
        kernels, shape.mixer, weights.mixer, p.plan,
        {p.rows, batch.tokens, p.saved.proj, width, p.states.conv, p.states.ssm},
        {p.saved.chunk_states, p.saved.mixer_rstd, dmixed.data(),
         shifted(upstream.conv_next, p.first_row * conv),
         shifted(upstream.ssm_next, p.first_row * state)},
        {dproj.data(), g.conv, g.conv_bias, g.dt_bias, g.A, g.D, g.mixer_norm,
         shifted(g.conv_state, p.first_row * conv), shifted(g.ssm_state, p.first_row * state)});
    norm_rows<T>(kernels, shape, p.tokens, p.x, weights.norm, normed.data(), nullptr);
    linear_backward_weight(kernels, p.tokens, D, width, dproj.data(), normed.data(), g.in_proj,
                           g.in_bias);
    linear_backward_input(kernels, p.tokens, D, width, dproj.data(), weights.in_proj,
                          normed.data());  // now the gradient of what was normed
    kernels.gate_norm_backward({p.tokens, D, 1, Gate::kGateFirst, p.x, D, nullptr, 0, weights.norm,
                                p.saved.rstd, normed.data(), D, dx, D, nullptr, 0, g.norm});
    for (std::int64_t i = 0; i < p.tokens * D; ++i) dx[i] += dout[i];
  });
}

template void block_forward(const KernelTableOf<float>&, const BlockShape&,
                            const BlockWeights<float>&, const BlockBatch<float>&,
                            const BlockSaved<float>&, float*);
template void block_backward(const KernelTableOf<float>&, const BlockShape&,
                             const BlockWeights<float>&, const BlockBatch<float>&,
                             const BlockSaved<float>&, const BlockUpstream<float>&,
                             const BlockGradients<float>&);

}  // namespace foxhunt::kernels
