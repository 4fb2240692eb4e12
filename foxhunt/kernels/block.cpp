#include "foxhunt/kernels/block.h"

#include <algorithm>

#include "foxhunt/kernels/mixer_parts.h"
#include "foxhunt/kernels/rms_norm.h"

namespace foxhunt::kernels {
namespace {

/// Tokens that go through the block together: enough rows for the matrix kernel, few enough that
/// in_proj's output and its gradient (4 proj_width bytes a token each) stay in L2.
constexpr std::int64_t kTokens = 128;

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

void block_forward(const Products& products, const BlockShape& shape,
                   const BlockWeights<float>& weights, const BlockBatch<float>& batch,
                   const BlockSaved<float>& saved, float* out) {
  const KernelTable& kernels = products.kernels;
  const std::int64_t D = shape.d_model;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const std::int64_t most = std::max(kTokens, batch.tokens);
  const LinearForward in_proj(products, D, width, weights.in_proj, most);
  const LinearForward out_proj(products, inner, D, weights.out_proj, most);
  const Scratch<float> normed(most * D);
  over_pieces(shape, batch, saved, [&](const Piece<float>& p) {
    rms_norm_forward(kernels, p.tokens, D, shape.norm_eps, p.x, weights.norm, normed.data(),
                     p.saved.rstd);
    in_proj.run(p.tokens, normed.data(), weights.in_bias, p.saved.proj, /*accumulate=*/false);
    mixer_forward(kernels, shape.mixer, weights.mixer, p.plan,
                  {p.rows, batch.tokens, p.saved.proj, width, p.states.conv, p.states.ssm},
                  {p.saved.mixed, p.states.conv_next, p.states.ssm_next, p.saved.chunk_states,
                   p.saved.mixer_rstd});
    float* to = out + p.first_token * D;
    std::copy_n(p.x, p.tokens * D, to);
    out_proj.run(p.tokens, p.saved.mixed, weights.out_bias, to, /*accumulate=*/true);
  });
}

void block_backward(const Products& products, const BlockShape& shape,
                    const BlockWeights<float>& weights, const BlockBatch<float>& batch,
                    const BlockSaved<float>& saved, const BlockUpstream<float>& upstream,
                    const BlockGradients<float>& g) {
  const KernelTable& kernels = products.kernels;
  const std::int64_t D = shape.d_model;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const std::int64_t conv = shape.mixer.channels() * shape.mixer.width;
  const std::int64_t state = state_size(shape.mixer.ssd);
  const std::int64_t most = std::max(kTokens, batch.tokens);
  const Scratch<float> dmixed(most * inner);
  const Scratch<float> dproj(most * width);
  const Scratch<float> normed(most * D);
  const LinearBackward in_proj(products, D, width, weights.in_proj, most);
  const LinearBackward out_proj(products, inner, D, weights.out_proj, most);
  over_pieces(shape, batch, saved, [&](const Piece<float>& p) {
    const float* dout = upstream.out + p.first_token * D;
    float* dx = g.x + p.first_token * D;
    out_proj.input(p.tokens, dout, dmixed.data());
    out_proj.weight(p.tokens, dout, p.saved.mixed, g.out_proj, g.out_bias);
    mixer_backward(
        kernels, shape.mixer, weights.mixer, p.plan,
        {p.rows, batch.tokens, p.saved.proj, width, p.states.conv, p.states.ssm},
        {p.saved.chunk_states, p.saved.mixer_rstd, dmixed.data(),
         shifted(upstream.conv_next, p.first_row * conv),
         shifted(upstream.ssm_next, p.first_row * state)},
        {dproj.data(), g.conv, g.conv_bias, g.dt_bias, g.A, g.D, g.mixer_norm,
         shifted(g.conv_state, p.first_row * conv), shifted(g.ssm_state, p.first_row * state)});
    rms_norm_forward(kernels, p.tokens, D, shape.norm_eps, p.x, weights.norm, normed.data(),
                     nullptr);
    in_proj.weight(p.tokens, dproj.data(), normed.data(), g.in_proj, g.in_bias);
    in_proj.input(p.tokens, dproj.data(), normed.data());  // now the gradient of what was normed
    rms_norm_backward(kernels, p.tokens, D, p.x, weights.norm, p.saved.rstd, normed.data(), dx,
                      g.norm);
    for (std::int64_t i = 0; i < p.tokens * D; ++i) dx[i] += dout[i];
  });
}

std::int64_t block_scratch_bytes(const BlockShape& shape, std::int64_t tokens, bool bf16) {
  const std::int64_t D = shape.d_model;
  const std::int64_t width = shape.mixer.proj_width();
  const std::int64_t inner = shape.mixer.inner();
  const std::int64_t most = std::max(kTokens, tokens);
  const std::int64_t forward = LinearForward::scratch_bytes(D, width, most, bf16) +
                               LinearForward::scratch_bytes(inner, D, most, bf16) + 4 * most * D;
  const std::int64_t backward = LinearBackward::scratch_bytes(D, width, most, bf16) +
                                LinearBackward::scratch_bytes(inner, D, most, bf16) +
                                4 * most * (inner + width + D);
  return std::max(forward, backward) + 4 * MixerScratch<float>::size(shape.mixer);
}

std::int64_t block_saved_bytes(const BlockShape& shape, std::int64_t batch, std::int64_t tokens) {
  const MixerShape& m = shape.mixer;
  const std::int64_t chunks = batch * ((tokens + m.chunk - 1) / m.chunk);
  const std::int64_t norms = 1 + (m.gate != Gate::kNoNorm ? m.ssd.groups : 0);
  return 4 * (batch * tokens * (m.proj_width() + m.inner() + norms) + chunks * state_size(m.ssd));
}

}  // namespace foxhunt::kernels
