#pragma once
// How a window is cut into chunks, tiles and blocks: arithmetic only, in 64 bits, for both sides.

#include <cstdint>

#include "foxhunt/kernels/cuda/ssd_args.h"

namespace foxhunt::kernels::cuda {

/// A grid has one axis, x, and at most this many blocks (CUDA's own limit); what is beyond them is
/// taken in rounds. The axes y and z end at 65,535 and are never used.
inline constexpr std::int64_t kMaxGrid = 2147483647;

FX_HD constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }
FX_HD constexpr std::int64_t least(std::int64_t a, std::int64_t b) { return a < b ? a : b; }

/// Q of 16, 32 or 64. Work inside a chunk grows like Q (N + P), work on states is 4 N P whatever Q
/// is: Q lies near where the two are equal, and never far above T. The same shape always gets the
/// same Q, so that results repeat.
FX_HD constexpr int pick_chunk(const Shape& s) {
  const std::int64_t balance = 4 * s.headdim * s.d_state / (s.headdim + s.d_state);
  const std::int64_t wish = least(balance, s.tokens);
  if (wish <= 16) return 16;
  return wish <= 32 ? 32 : 64;
}

FX_HD constexpr std::int64_t chunk_count(const Shape& s) {
  return ceil_div(s.tokens, pick_chunk(s));
}

FX_HD constexpr std::int64_t grid_size(std::int64_t items, std::int64_t limit = kMaxGrid) {
  return least(items, limit);
}

/// Sums over rows are taken in two passes of fixed shape: this many partial sums, then one.
FX_HD constexpr std::int64_t stripe_count(std::int64_t rows) {
  const std::int64_t wanted = ceil_div(rows, 1024);
  return wanted < 256 ? wanted : 256;
}

/// Sizes in values, and offsets into one block of memory.
struct Workspace {
  std::int64_t leaving;  ///< [B, chunks, H, P, N] gradient of the state that leaves each chunk
  std::int64_t dB;       ///< [B, T, H, N] by head
  std::int64_t dC;       ///< [B, T, H, N] by head
  std::int64_t dA;       ///< [B chunks, H]
  std::int64_t dD;       ///< [B chunks, H]
  std::int64_t stripes;  ///< [stripes, H]
  std::int64_t size;
};
FX_HD constexpr Workspace backward_workspace(const Shape& s) {
  const std::int64_t rows = s.batch * chunk_count(s);
  const std::int64_t by_head = s.batch * s.tokens * s.heads * s.d_state;
  Workspace w{};
  w.dB = w.leaving + rows * s.heads * s.state_size();
  w.dC = w.dB + by_head;
  w.dA = w.dC + by_head;
  w.dD = w.dA + rows * s.heads;
  w.stripes = w.dD + rows * s.heads;
  w.size = w.stripes + stripe_count(rows) * s.heads;
  return w;
}

/// One chunk of one head of one row.
struct Place {
  std::int64_t row, chunk, head, group;
  std::int64_t start;  ///< first token
  int length;          ///< tokens, at most Q
};
FX_HD inline Place place_of(const Shape& s, int Q, std::int64_t index) {
  Place p{};
  const std::int64_t chunks = ceil_div(s.tokens, Q);
  p.head = index % s.heads;
  p.chunk = index / s.heads % chunks;
  p.row = index / s.heads / chunks;
  p.group = p.head / s.heads_per_group();
  p.start = p.chunk * Q;
  p.length = static_cast<int>(least(Q, s.tokens - p.start));
  return p;
}

/// Where the operands of a place begin, in elements.
template <class In, class Real>
FX_HD std::int64_t x_offset(const Shape& s, const Inputs<In, Real>& in, const Place& p) {
  return p.row * in.row_stride + p.start * in.token_stride + p.head * s.headdim;
}
template <class In, class Real>
FX_HD std::int64_t bc_offset(const Shape& s, const Inputs<In, Real>& in, const Place& p) {
  return p.row * in.row_stride + p.start * in.token_stride + p.group * s.d_state;
}
template <class In, class Real>
FX_HD std::int64_t dt_offset(const Inputs<In, Real>& in, const Place& p) {
  return p.row * in.dt_row_stride + p.start * in.dt_token_stride + p.head;
}
/// In a contiguous [B, T, H, width].
FX_HD inline std::int64_t token_offset(const Shape& s, const Place& p, std::int64_t width) {
  return ((p.row * s.tokens + p.start) * s.heads + p.head) * width;
}
/// In a contiguous [B, chunks, H, P, N].
FX_HD inline std::int64_t state_offset(const Shape& s, int Q, const Place& p) {
  return ((p.row * ceil_div(s.tokens, Q) + p.chunk) * s.heads + p.head) * s.state_size();
}

}  // namespace foxhunt::kernels::cuda
