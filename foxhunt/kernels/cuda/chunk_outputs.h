#pragma once
// The forward pass, last step: y, from the tokens of a chunk and the state that enters it.

#include "foxhunt/kernels/cuda/decay.h"
#include "foxhunt/kernels/cuda/tile.h"

namespace foxhunt::kernels::cuda {

template <class Real, int Q>
struct OutputShared {
  Slices<Real, Q> slices;
  Decays<Real, Q> decays;
  Table<Real, Q, Q + 1> mixing;  ///< L_ij (C_i . B_j) dt_j
};

/// y_i = sum_j L_ij (C_i . B_j) dt_j x_j + exp(s_i) S C_i + D x_i.
template <class In, class Real, int Q>
struct ChunkOutputs {
  static constexpr const char* kName = "ssd_chunk_outputs";
  static constexpr int kThreads = Tile<Q>::kThreads;
  using Args = ForwardArgs<In, Real>;
  using Shared = OutputShared<Real, Q>;

  FX_HD static std::int64_t items(const Args& a) {
    return a.shape.batch * ceil_div(a.shape.tokens, Q) * a.shape.heads;
  }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const Shape& s = a.shape;
    const Place place = place_of(s, Q, item);
    const Decays<Real, Q>& d = shared.decays;
    load_decays(block, shared.decays, s, a.in, place);

    const In* x = a.in.x + x_offset(s, a.in, place);
    const In* B = a.in.B + bc_offset(s, a.in, place);
    const In* C = a.in.C + bc_offset(s, a.in, place);
    const Real* state = a.enter + state_offset(s, Q, place);
    In* y = a.y + token_offset(s, place, s.headdim);
    const std::int64_t stride = a.in.token_stride;
    const int length = place.length;
    typename Block::template Local<Sums<Real, Q>> sums;

    clear<Q>(block, sums);
    multiply<Q, Contiguous::kDepth, Contiguous::kDepth>(
        block, shared.slices, sums, s.d_state,
        [&](int i, std::int64_t n) {
          return i < length ? Real(widen(C[i * stride + n])) : Real(0);
        },
        [&](int j, std::int64_t n) {
          return j < length ? Real(widen(B[j * stride + n])) : Real(0);
        });
    block.run([&](int thread) {
      for_own<Q>(thread, sums[thread], [&](int i, int j, Real gram) {
        shared.mixing[i][j] = d.within(i, j) * gram * d.dt[j];
      });
    });

    for (std::int64_t first = 0; first < s.headdim; first += Q) {
      const auto has = [&](int p) { return first + p < s.headdim; };
      clear<Q>(block, sums);
      multiply<Q, Contiguous::kDepth, Contiguous::kEdge>(
          block, shared.slices, sums, length,
          [&](int i, std::int64_t j) { return shared.mixing[i][j]; },
          [&](int p, std::int64_t j) {
            return has(p) ? Real(widen(x[j * stride + first + p])) : Real(0);
          });
      multiply<Q, Contiguous::kDepth, Contiguous::kDepth>(
          block, shared.slices, sums, s.d_state,
          [&](int i, std::int64_t n) {
            return i < length ? d.into[i] * widen(C[i * stride + n]) : Real(0);
          },
          [&](int p, std::int64_t n) {
            return has(p) ? state[(first + p) * s.d_state + n] : Real(0);
          });
      block.run([&](int thread) {
        for_own<Q>(thread, sums[thread], [&](int i, int p, Real value) {
          if (i >= length || !has(p)) return;
          if (a.in.D != nullptr) value += a.in.D[place.head] * widen(x[i * stride + first + p]);
          narrow(value, y[i * s.heads * s.headdim + first + p]);
        });
      });
    }
  }
};

}  // namespace foxhunt::kernels::cuda
