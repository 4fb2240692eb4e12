#pragma once
// The forward pass, first two steps: what each chunk adds to the state, and the states that enter
// the chunks.
//
// An algorithm of this folder is a struct with Args, Shared (shared memory), kThreads, items(args)
// and run(block, shared, args, item): independent items that blocks take in turn.

#include "foxhunt/kernels/cuda/decay.h"
#include "foxhunt/kernels/cuda/tile.h"

namespace foxhunt::kernels::cuda {

/// Which tile of [P, N] of which chunk an item is.
struct StateTile {
  Place place;
  std::int64_t p, n;  ///< first row and column
};
template <int Q>
FX_HD std::int64_t state_tiles(const Shape& s) {
  return s.batch * ceil_div(s.tokens, Q) * s.heads * ceil_div(s.headdim, Q) *
         ceil_div(s.d_state, Q);
}
template <int Q>
FX_HD StateTile state_tile(const Shape& s, std::int64_t item) {
  const std::int64_t across = ceil_div(s.d_state, Q);
  const std::int64_t tiles = across * ceil_div(s.headdim, Q);
  const std::int64_t tile = item % tiles;
  return {place_of(s, Q, item / tiles), tile / across * Q, tile % across * Q};
}

template <class Real, int Q>
struct StateShared {
  Slices<Real, Q> slices;
  Decays<Real, Q> decays;
};

/// S^loc = sum_j exp(s_q - s_j) dt_j x_j B_j^T, into `enter`, and exp(s_q) into `through`.
template <class In, class Real, int Q>
struct ChunkStates {
  static constexpr const char* kName = "ssd_chunk_states";
  static constexpr int kThreads = Tile<Q>::kThreads;
  using Args = ForwardArgs<In, Real>;
  using Shared = StateShared<Real, Q>;

  FX_HD static std::int64_t items(const Args& a) { return state_tiles<Q>(a.shape); }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const StateTile tile = state_tile<Q>(a.shape, item);
    const Decays<Real, Q>& d = shared.decays;
    load_decays(block, shared.decays, a.shape, a.in, tile.place);

    const In* x = a.in.x + x_offset(a.shape, a.in, tile.place);
    const In* B = a.in.B + bc_offset(a.shape, a.in, tile.place);
    const std::int64_t stride = a.in.token_stride;
    typename Block::template Local<Sums<Real, Q>> sums;
    clear<Q>(block, sums);
    multiply<Q, Contiguous::kEdge, Contiguous::kEdge>(
        block, shared.slices, sums, tile.place.length,
        [&](int p, std::int64_t j) {
          return tile.p + p < a.shape.headdim
                     ? d.tail[j] * d.dt[j] * widen(x[j * stride + tile.p + p])
                     : Real(0);
        },
        [&](int n, std::int64_t j) {
          return tile.n + n < a.shape.d_state ? Real(widen(B[j * stride + tile.n + n])) : Real(0);
        });
    Real* out = a.enter + state_offset(a.shape, Q, tile.place);
    block.run([&](int thread) {
      for_own<Q>(thread, sums[thread], [&](int p, int n, Real value) {
        if (tile.p + p < a.shape.headdim && tile.n + n < a.shape.d_state)
          out[(tile.p + p) * a.shape.d_state + tile.n + n] = value;
      });
      if (thread == 0 && tile.p == 0 && tile.n == 0)
        a.through[state_offset(a.shape, Q, tile.place) / a.shape.state_size()] = d.through;
    });
  }
};

inline constexpr int kRowThreads = 256;
struct NoShared {};

/// S_{c+1} = exp(s_q) S_c + S^loc_c: what each chunk adds becomes what enters it.
template <class In, class Real, int Q>
struct PassStates {
  static constexpr const char* kName = "ssd_pass_states";
  static constexpr int kThreads = kRowThreads;
  using Args = ForwardArgs<In, Real>;
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
      Real state = a.state == nullptr ? Real(0) : a.state[index];
      for (std::int64_t c = 0; c < chunks; ++c) {
        Real& slot = a.enter[(row * chunks + c) * per_row + inside];
        const Real added = slot;
        slot = state;
        state = a.through[(row * chunks + c) * a.shape.heads + head] * state + added;
      }
      a.final_state[index] = state;
    });
  }
};

}  // namespace foxhunt::kernels::cuda
