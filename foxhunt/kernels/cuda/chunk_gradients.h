#pragma once
// Over budget: one algorithm whose parts share their operands.
// The backward pass inside one chunk of one head. With Gamma_ij = C_i . B_j, U_j = dt_j x_j, S the
// entering state, R the gradient of the leaving one, and L the decays:
//
//   dM_ij = dy_i . U_j        K = L Gamma dM
//   dU_j  = sum_i L_ij Gamma_ij dy_i + tail_j R B_j            dx = dt dU + D dy
//   dC_i  = into_i S^T dy_i + sum_j L_ij dM_ij B_j             by head; SumHeads adds them
//   dB_j  = tail_j R^T U_j  + sum_i L_ij dM_ij C_i
//   da_t  = sum_{i >= t > j} K_ij + sum_{i >= t} off_i + sum_{j < t} v_j + through <R, S>
//   off_i = C_i . (into_i S^T dy_i)        v_j = B_j . (tail_j R^T U_j)
//   ddt   = x . dU + A da
//
// da is a sum of what belongs to it, never a difference of long sums: those cancel.

#include "foxhunt/kernels/cuda/decay.h"
#include "foxhunt/kernels/cuda/tile.h"

namespace foxhunt::kernels::cuda {

template <class Real, int Q>
struct GradientShared {
  Slices<Real, Q> slices;
  Decays<Real, Q> decays;
  Table<Real, Q, Q + 1> first;   ///< K and its sums, then L Gamma
  Table<Real, Q, Q + 1> second;  ///< L dM
  Array<Real, Q> spans;          ///< sum over i >= t > j of K_ij
  Array<Real, Q> off, v;
  Array<Real, Q> x_dU;  ///< x_j . dU_j
};

template <class In, class Real, int Q>
struct ChunkGradients {
  static constexpr const char* kName = "ssd_chunk_gradients";
  static constexpr int kThreads = Tile<Q>::kThreads;
  using Args = BackwardArgs<In, Real>;
  using Shared = GradientShared<Real, Q>;
  static_assert(sizeof(GradientShared<float, Q>) <= 49152, "more than the 48 KiB a block may have");

  FX_HD static std::int64_t items(const Args& a) {
    return a.shape.batch * ceil_div(a.shape.tokens, Q) * a.shape.heads;
  }

  /// What the parts below share: pointers to the operands of one place.
  struct Operands {
    const In *x, *B, *C, *dy;
    const Real *state, *leaving;  ///< S and R, [P, N]
    std::int64_t stride;          ///< of tokens in x, B and C
    std::int64_t dy_stride;
    int length;

    FX_BLOCK Operands(const Args& a, const Place& place)
        : x(a.in.x + x_offset(a.shape, a.in, place)),
          B(a.in.B + bc_offset(a.shape, a.in, place)),
          C(a.in.C + bc_offset(a.shape, a.in, place)),
          dy(a.dy + token_offset(a.shape, place, a.shape.headdim)),
          state(a.enter + state_offset(a.shape, Q, place)),
          leaving(a.workspace + backward_workspace(a.shape).leaving +
                  state_offset(a.shape, Q, place)),
          stride(a.in.token_stride),
          dy_stride(a.shape.heads * a.shape.headdim),
          length(place.length) {}

    FX_BLOCK Real x_at(std::int64_t j, std::int64_t p) const { return widen(x[j * stride + p]); }
    FX_BLOCK Real b_at(std::int64_t j, std::int64_t n) const { return widen(B[j * stride + n]); }
    FX_BLOCK Real c_at(std::int64_t i, std::int64_t n) const { return widen(C[i * stride + n]); }
    FX_BLOCK Real dy_at(std::int64_t i, std::int64_t p) const {
      return widen(dy[i * dy_stride + p]);
    }
  };

  /// Fills spans, first (L Gamma) and second (L dM).
  template <class Block>
  FX_BLOCK static void inside(Block& block, Shared& shared, const Shape& s, const Operands& o) {
    const Decays<Real, Q>& d = shared.decays;
    typename Block::template Local<Sums<Real, Q>> gram;
    typename Block::template Local<Sums<Real, Q>> spread;
    clear<Q>(block, gram);
    clear<Q>(block, spread);
    multiply<Q, Contiguous::kDepth, Contiguous::kDepth>(
        block, shared.slices, gram, s.d_state,
        [&](int i, std::int64_t n) { return i < o.length ? o.c_at(i, n) : Real(0); },
        [&](int j, std::int64_t n) { return j < o.length ? o.b_at(j, n) : Real(0); });
    multiply<Q, Contiguous::kDepth, Contiguous::kDepth>(
        block, shared.slices, spread, s.headdim,
        [&](int i, std::int64_t p) { return i < o.length ? o.dy_at(i, p) : Real(0); },
        [&](int j, std::int64_t p) { return j < o.length ? o.x_at(j, p) * d.dt[j] : Real(0); });
    block.run([&](int thread) {
      for_own<Q>(thread, spread[thread], [&](int i, int j, Real& value) {
        value *= d.within(i, j);
        shared.second[i][j] = value;
      });
      for_own<Q>(thread, gram[thread], [&](int i, int j, Real& value) {
        shared.first[i][j] = value * shared.second[i][j];  // its own value of above
        value *= d.within(i, j);
      });
    });
    block.run([&](int i) {  // first[i][t] <- sum over j < t of K_ij
      if (i >= Q) return;
      Real sum = 0;
      for (int t = 0; t < Q; ++t) {
        const Real K = shared.first[i][t];
        shared.first[i][t] = sum;
        sum += K;
      }
    });
    block.run([&](int t) {
      if (t >= Q) return;
      Real sum = 0;
      for (int i = t; i < Q; ++i) sum += shared.first[i][t];
      shared.spans[t] = sum;
      shared.off[t] = 0;
      shared.v[t] = 0;
      shared.x_dU[t] = 0;
    });
    block.run([&](int thread) {
      for_own<Q>(thread, gram[thread],
                 [&](int i, int j, Real value) { shared.first[i][j] = value; });
    });
  }

  /// dx and x_dU.
  template <class Block>
  FX_BLOCK static void inputs(Block& block, Shared& shared, const Args& a, const Place& place,
                              const Operands& o) {
    const Shape& s = a.shape;
    const Decays<Real, Q>& d = shared.decays;
    const Real skip = a.in.D == nullptr ? Real(0) : a.in.D[place.head];
    In* dx = a.dx + place.row * a.grad_row_stride + place.start * a.grad_token_stride +
             place.head * s.headdim;
    typename Block::template Local<Sums<Real, Q>> sums;
    for (std::int64_t first = 0; first < s.headdim; first += Q) {
      const auto has = [&](int j, int p) { return j < o.length && first + p < s.headdim; };
      clear<Q>(block, sums);
      multiply<Q, Contiguous::kEdge, Contiguous::kEdge>(
          block, shared.slices, sums, o.length,
          [&](int j, std::int64_t i) { return shared.first[i][j]; },
          [&](int p, std::int64_t i) {
            return first + p < s.headdim ? o.dy_at(i, first + p) : Real(0);
          });
      multiply<Q, Contiguous::kDepth, Contiguous::kDepth>(
          block, shared.slices, sums, s.d_state,
          [&](int j, std::int64_t n) { return j < o.length ? d.tail[j] * o.b_at(j, n) : Real(0); },
          [&](int p, std::int64_t n) {
            return first + p < s.headdim ? o.leaving[(first + p) * s.d_state + n] : Real(0);
          });
      block.run([&](int thread) {
        for_own<Q>(thread, sums[thread], [&](int j, int p, Real dU) {
          if (!has(j, p)) return;
          narrow(d.dt[j] * dU + skip * o.dy_at(j, first + p),
                 dx[j * a.grad_token_stride + first + p]);
        });
      });
      add_row_sums<Q>(
          block, shared.slices, sums,
          [&](int j, int p) { return has(j, p) ? o.x_at(j, first + p) : Real(0); }, shared.x_dU);
    }
  }

  /// dC and dB of this head, off and v.
  template <class Block>
  FX_BLOCK static void projections(Block& block, Shared& shared, const Args& a, const Place& place,
                                   const Operands& o) {
    const Shape& s = a.shape;
    const Decays<Real, Q>& d = shared.decays;
    Real* dC = a.workspace + backward_workspace(s).dC + token_offset(s, place, s.d_state);
    Real* dB = a.workspace + backward_workspace(s).dB + token_offset(s, place, s.d_state);
    typename Block::template Local<Sums<Real, Q>> sums;
    for (std::int64_t first = 0; first < s.d_state; first += Q) {
      const auto has = [&](int i, int n) { return i < o.length && first + n < s.d_state; };
      const auto store = [&](Real* out) {
        block.run([&](int thread) {
          for_own<Q>(thread, sums[thread], [&](int i, int n, Real value) {
            if (has(i, n)) out[i * s.heads * s.d_state + first + n] = value;
          });
        });
      };
      const auto state_column = [&](const Real* state) {
        return [&s, first, state](int n, std::int64_t p) {
          return first + n < s.d_state ? state[p * s.d_state + first + n] : Real(0);
        };
      };
      clear<Q>(block, sums);
      multiply<Q, Contiguous::kDepth, Contiguous::kEdge>(
          block, shared.slices, sums, s.headdim,
          [&](int i, std::int64_t p) { return i < o.length ? d.into[i] * o.dy_at(i, p) : Real(0); },
          state_column(o.state));
      add_row_sums<Q>(
          block, shared.slices, sums,
          [&](int i, int n) { return has(i, n) ? o.c_at(i, first + n) : Real(0); }, shared.off);
      multiply<Q, Contiguous::kDepth, Contiguous::kEdge>(
          block, shared.slices, sums, o.length,
          [&](int i, std::int64_t j) { return shared.second[i][j]; },
          [&](int n, std::int64_t j) {
            return first + n < s.d_state ? o.b_at(j, first + n) : Real(0);
          });
      store(dC);
      clear<Q>(block, sums);
      multiply<Q, Contiguous::kDepth, Contiguous::kEdge>(
          block, shared.slices, sums, s.headdim,
          [&](int j, std::int64_t p) {
            return j < o.length ? d.tail[j] * d.dt[j] * o.x_at(j, p) : Real(0);
          },
          state_column(o.leaving));
      add_row_sums<Q>(
          block, shared.slices, sums,
          [&](int j, int n) { return has(j, n) ? o.b_at(j, first + n) : Real(0); }, shared.v);
      multiply<Q, Contiguous::kEdge, Contiguous::kEdge>(
          block, shared.slices, sums, o.length,
          [&](int j, std::int64_t i) { return shared.second[i][j]; },
          [&](int n, std::int64_t i) {
            return first + n < s.d_state ? o.c_at(i, first + n) : Real(0);
          });
      store(dB);
    }
  }

  /// The sum over e < count of value(e), in a fixed order, in slices.b[0][0]. Uses slices.a.
  template <class Block, class Value>
  FX_BLOCK static void block_sum(Block& block, Shared& shared, std::int64_t count,
                                 const Value& value) {
    Real* partial = &shared.slices.a[0][0];
    Real* rows = &shared.slices.b[0][0];
    block.run([&](int thread) {
      Real sum = 0;
      for (std::int64_t e = thread; e < count; e += kThreads) sum += value(e);
      partial[thread] = sum;
    });
    block.run([&](int thread) {
      if (thread >= kThreads / 16) return;
      Real sum = 0;
      for (int i = 0; i < 16; ++i) sum += partial[thread * 16 + i];
      rows[thread] = sum;
    });
    block.run([&](int thread) {
      if (thread != 0) return;
      for (int i = 1; i < kThreads / 16; ++i) rows[0] += rows[i];
    });
  }

  template <class Block>
  FX_BLOCK static void run(Block& block, Shared& shared, const Args& a, std::int64_t item) {
    const Shape& s = a.shape;
    const Place place = place_of(s, Q, item);
    const Operands o(a, place);
    const Workspace w = backward_workspace(s);
    const std::int64_t index = state_offset(s, Q, place) / s.state_size();  // of [B chunks, H]
    const Decays<Real, Q>& d = shared.decays;
    load_decays(block, shared.decays, s, a.in, place);
    inside(block, shared, s, o);
    inputs(block, shared, a, place, o);
    projections(block, shared, a, place, o);

    if (a.dD != nullptr) {
      block_sum(block, shared, o.length * s.headdim, [&](std::int64_t e) {
        return o.dy_at(e / s.headdim, e % s.headdim) * o.x_at(e / s.headdim, e % s.headdim);
      });
      block.run([&](int thread) {
        if (thread == 0) a.workspace[w.dD + index] = shared.slices.b[0][0];
      });
    }
    block_sum(block, shared, s.state_size(),
              [&](std::int64_t e) { return o.leaving[e] * o.state[e]; });
    Real* ddt = a.ddt + token_offset(s, place, 1);
    block.run([&](int t) {
      if (t >= o.length) return;
      Real da = shared.spans[t];
      for (int i = t; i < o.length; ++i) da += shared.off[i];
      for (int j = 0; j < t; ++j) da += shared.v[j];
      da += d.through * shared.slices.b[0][0];
      ddt[t * s.heads] = shared.x_dU[t] + a.in.A[place.head] * da;
      shared.slices.a[0][t] = d.dt[t] * da;
    });
    block.run([&](int thread) {
      if (thread != 0) return;
      Real sum = 0;
      for (int t = 0; t < o.length; ++t) sum += shared.slices.a[0][t];
      a.workspace[w.dA + index] = sum;
    });
  }
};

}  // namespace foxhunt::kernels::cuda
