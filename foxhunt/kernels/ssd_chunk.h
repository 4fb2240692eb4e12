#pragma once
// One chunk of the selective state space, forward and backward, in matrix form.
//
// For head h in group g, tokens i, j of the chunk, s_i = sum over k <= i of dt_k A_h, U = dt x:
//
//   L_ij = exp(s_i - s_j) for i >= j, else 0        M = L * (C B^T)
//   y_i  = (M U)_i + exp(s_i) S C_i + D_h x_i       S <- exp(s_q) S + sum_j exp(s_q - s_j) U_j
//   B_j^T
//
// ssd_scan.h runs it over a window, mixer.h inside a layer. The state lies as [G, N, r P] with
// r = H / G heads a group, so that every product has the r P channels as its vector axis.
// Plain data only: files compiled with -mavx512f include this one.

#include <stdint.h>

namespace foxhunt::kernels {

struct SsdShape {
  int64_t heads;    ///< H >= 1
  int64_t headdim;  ///< P >= 1
  int64_t groups;   ///< G, divides H; the heads of a group share B and C
  int64_t d_state;  ///< N >= 1
};
inline int64_t inner_width(const SsdShape& s) { return s.heads * s.headdim; }
inline int64_t state_size(const SsdShape& s) { return s.heads * s.headdim * s.d_state; }

/// Scratch of one chunk of at most Q tokens; Qs is Q rounded up to 16. What forward() leaves here
/// backward() reads.
template <class T>
struct SsdWorkspace {
  T* decay;                              ///< [H, Qs] e_t = exp(dt A)
  T *decay_in, *weight_out, *decay_out;  ///< [H, Qs] exp(s); exp(s_q - s) dt; exp(s_q - s)
  T *U, *W, *off;                        ///< [Q, H P] dt x; weight_out x; exp(s) S C
  T* gram;                               ///< [G, Q, Qs]
  T *L, *M;                              ///< [H, Q, Qs]
  T* Bt;                                 ///< [N, Qs]
  T *EdY, *dU;                           ///< [Q, H P] exp(s) dy; gradient of U
  T *St, *Rt;                            ///< [r P, N] transposed states of a group
  T *Ut, *dM, *dGram;                    ///< [P, Qs]; [Q, Qs]; [Q, Qs]
  T *da, *column;                        ///< [Qs]
  int64_t stride;                        ///< Qs
};

template <class T>
struct SsdChunkForward {
  int64_t tokens;      ///< q, 1 .. Q
  const T *x, *B, *C;  ///< [q, ld]: H P channels of x, G N of B and of C
  int64_t ld;
  const T* dt;         ///< [q, H] >= 0
  const T* A;          ///< [H] <= 0
  const T* D;          ///< [H] or null
  T* state;            ///< [G, N, r P] read, and advanced if `advance`
  bool state_is_zero;  ///< known to be zero: its products are left out
  bool advance;
  T* y;  ///< [q, y_ld] written
  int64_t y_ld;
};

template <class T>
struct SsdChunkBackward {
  int64_t tokens;
  const T *x, *B, *C;
  int64_t ld;
  const T* dt;
  const T* A;
  const T* D;
  const T* state;  ///< the state that entered the chunk
  bool state_is_zero;
  const T* dy;  ///< [q, dy_ld]
  int64_t dy_ld;
  T* dstate;            ///< [G, N, r P] gradient of the state behind the chunk; afterwards of
                        ///< the one in front of it
  bool dstate_is_zero;  ///< known to be zero on entry
  bool want_dstate;     ///< false: what dstate holds afterwards does not matter
  T *dx, *dB, *dC;      ///< [q, dx_ld] written
  int64_t dx_ld;
  T* ddt;      ///< [q, H] written
  T *dA, *dD;  ///< [H] added to; dD null without D
};

/// Errors   none: noexcept, no allocation, no check.
/// Numbers  exp(s_i - s_j) is the product of the decays between, never a difference of sums nor a
///          quotient: right for |A| dt of any size, also beside a token whose decay is total. The
///          gradient of s is the sum of its terms, never a difference of two sums.
/// Cost     a token and head: forward Q (N G/H + P) + 4 N P flop, backward about 3 times that.
template <class T>
using SsdChunkForwardFn = void (*)(const SsdShape&, const SsdChunkForward<T>&,
                                   const SsdWorkspace<T>&) noexcept;
template <class T>
using SsdChunkBackwardFn = void (*)(const SsdShape&, const SsdChunkBackward<T>&,
                                    const SsdWorkspace<T>&) noexcept;

}  // namespace foxhunt::kernels
