#pragma once
// The backward pass, first half: gradients of the states between chunks, from the last to the
// first.
//
//   ChunkStateGradients   what a chunk's outputs say of the state that enters it   a tile of [P, N]
//   PassStateGradients    the gradient R of the state that leaves each chunk       256 values

#include "foxhunt/kernels/cuda/chunk_states.h"

namespace foxhunt::kernels::cuda {

/// sum_i exp(s_i) dy_i C_i^T, into `leaving`.
template <class In, class Real, int Q>
struct ChunkStateGradients {
  static constexpr const char* kName = "ssd_chunk_state_gradients";
  static constexpr int kThreads = Tile<Q>::kThreads;
  using Args = BackwardArgs<In, Real>;
  using Shared = StateShared<Real, Q>;

  FX_HD static std::int64_t items(const Args& a) { return state_tiles<Q>(a.shape); }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const Shape& s = a.shape;
    const StateTile tile = state_tile<Q>(s, item);
    const Decays<Real, Q>& d = shared.decays;
    load_decays(block, shared.decays, s, a.in, tile.place);

    const In* dy = a.dy + token_offset(s, tile.place, s.headdim);
    const In* C = a.in.C + bc_offset(s, a.in, tile.place);
    typename Block::template Local<Sums<Real, Q>> sums;
    clear<Q>(block, sums);
    multiply<Q, Contiguous::kEdge, Contiguous::kEdge>(
        block, shared.slices, sums, tile.place.length,
        [&](int p, std::int64_t i) {
          return tile.p + p < s.headdim
                     ? d.into[i] * widen(dy[i * s.heads * s.headdim + tile.p + p])
                     : Real(0);
        },
        [&](int n, std::int64_t i) {
          return tile.n + n < s.d_state ? Real(widen(C[i * a.in.token_stride + tile.n + n]))
                                        : Real(0);
        });
    Real* out = a.workspace + backward_workspace(s).leaving + state_offset(s, Q, tile.place);
    block.run([&](int thread) {
      for_own<Q>(thread, sums[thread], [&](int p, int n, Real value) {
        if (tile.p + p < s.headdim && tile.n + n < s.d_state)
          out[(tile.p + p) * s.d_state + tile.n + n] = value;
      });
    });
  }
};

/// R <- exp(s_q) R + what the chunk says, right to left; behind the first chunk R is the gradient
/// of the state before the window.
template <class In, class Real, int Q>
struct PassStateGradients {
  static constexpr const char* kName = "ssd_pass_state_gradients";
  static constexpr int kThreads = kRowThreads;
  using Args = BackwardArgs<In, Real>;
  using Shared = NoShared;

  FX_HD static std::int64_t values(const Shape& s) { return s.batch * s.heads * s.state_size(); }
  FX_HD static std::int64_t items(const Args& a) { return ceil_div(values(a.shape), kThreads); }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared&, const Args& a, std::int64_t item) {
    block.run([&](int thread) {
      const std::int64_t index = item * kThreads + thread;
      if (index >= values(a.shape)) return;
      const std::int64_t per_row = a.shape.heads * a.shape.state_size();
      const std::int64_t chunks = ceil_div(a.shape.tokens, Q);
      const std::int64_t row = index / per_row;
      const std::int64_t inside = index % per_row;
      const std::int64_t head = inside / a.shape.state_size();
      Real* leaving = a.workspace + backward_workspace(a.shape).leaving;
      Real gradient = a.dfinal_state == nullptr ? Real(0) : a.dfinal_state[index];
      for (std::int64_t c = chunks; c-- > 0;) {
        Real& slot = leaving[(row * chunks + c) * per_row + inside];
        const Real said = slot;
        slot = gradient;
        gradient = a.through[(row * chunks + c) * a.shape.heads + head] * gradient + said;
      }
      a.dstate[index] = gradient;
    });
  }
};

}  // namespace foxhunt::kernels::cuda
