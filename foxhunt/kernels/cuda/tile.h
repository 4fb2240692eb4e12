#pragma once
// A matrix product inside a block: one square tile of the result, its values in registers, the
// operands staged through shared memory in slices.

#include "foxhunt/kernels/cuda/plan.h"
#include "foxhunt/kernels/cuda/portable.h"

namespace foxhunt::kernels::cuda {

/// A tile of Q x Q values. Thread (y, x) of kSide x kSide holds rows y, y + kSide, .. and columns
/// x, x + kSide, ..: neighbours read and write neighbouring addresses.
template <int Q>
struct Tile {
  static constexpr int kEdge = Q;
  static constexpr int kOwn = Q == 64 ? 4 : 2;  ///< rows, and columns, a thread
  static constexpr int kSide = Q / kOwn;
  static constexpr int kThreads = kSide * kSide;
  static constexpr int kDepth = 16;  ///< of a slice
  static_assert(kThreads >= Q, "one thread a token is needed");

  FX_BLOCK static int row(int thread, int i) { return thread / kSide + i * kSide; }
  FX_BLOCK static int column(int thread, int i) { return thread % kSide + i * kSide; }
};

/// The odd row length spreads a column over the banks of shared memory.
template <class Real, int Q>
struct Slices {
  Table<Real, Tile<Q>::kDepth, Q + 1> a;
  Table<Real, Tile<Q>::kDepth, Q + 1> b;
};

/// One thread's part of a tile.
template <class Real, int Q>
struct Sums {
  Table<Real, Tile<Q>::kOwn, Tile<Q>::kOwn> at;
};

/// Along which index an operand is contiguous in memory.
enum class Contiguous { kDepth, kEdge };

template <int Q, Contiguous kAlong, class Real, class Load>
FX_BLOCK void stage(Table<Real, Tile<Q>::kDepth, Q + 1>& slice, int thread, std::int64_t first,
                    std::int64_t depth, const Load& load) {
  using T = Tile<Q>;
  for (int e = thread; e < Q * T::kDepth; e += T::kThreads) {
    const int k = kAlong == Contiguous::kDepth ? e % T::kDepth : e / Q;
    const int edge = kAlong == Contiguous::kDepth ? e / T::kDepth : e % Q;
    slice[k][edge] = first + k < depth ? load(edge, first + k) : Real(0);
  }
}

template <int Q, class Block, class Accumulators>
FX_BLOCK void clear(Block& block, Accumulators& sums) {
  block.run([&](int thread) {
    FX_UNROLL
    for (auto& row : sums[thread].at) {
      FX_UNROLL
      for (auto& value : row) value = 0;
    }
  });
}

/// sums[i][j] += sum over k < depth of a(i, k) b(j, k), in the order of k. The loaders answer 0
/// outside their matrix; they see every edge index below Q and every k below depth.
template <int Q, Contiguous kA, Contiguous kB, class Real, class Block, class Accumulators,
          class LoadA, class LoadB>
FX_BLOCK void multiply(Block& block, Slices<Real, Q>& slices, Accumulators& sums,
                       std::int64_t depth, const LoadA& a, const LoadB& b) {
  using T = Tile<Q>;
  for (std::int64_t first = 0; first < depth; first += T::kDepth) {
    block.run([&](int thread) {
      stage<Q, kA>(slices.a, thread, first, depth, a);
      stage<Q, kB>(slices.b, thread, first, depth, b);
    });
    block.run([&](int thread) {
      auto& own = sums[thread].at;
      const int y = T::row(thread, 0);
      const int x = T::column(thread, 0);
      const int count = static_cast<int>(least(T::kDepth, depth - first));
      for (int k = 0; k < count; ++k) {
        Array<Real, T::kOwn> left;
        Array<Real, T::kOwn> right;
        FX_UNROLL
        for (int i = 0; i < T::kOwn; ++i) {
          left[i] = slices.a[k][y + i * T::kSide];
          right[i] = slices.b[k][x + i * T::kSide];
        }
        FX_UNROLL
        for (int i = 0; i < T::kOwn; ++i) {
          FX_UNROLL
          for (int j = 0; j < T::kOwn; ++j) own[i][j] += left[i] * right[j];
        }
      }
    });
  }
}

/// Calls visit(row, column, value) for the values of one thread.
template <int Q, class Sum, class Visit>
FX_BLOCK void for_own(int thread, Sum& sums, const Visit& visit) {
  using T = Tile<Q>;
  FX_UNROLL
  for (int i = 0; i < T::kOwn; ++i) {
    FX_UNROLL
    for (int j = 0; j < T::kOwn; ++j) visit(T::row(thread, i), T::column(thread, j), sums.at[i][j]);
  }
}

/// out[row] += sum over the columns of weight(row, column) value, in a fixed order. Uses slices.a.
template <int Q, class Real, class Block, class Accumulators, class Weight>
FX_BLOCK void add_row_sums(Block& block, Slices<Real, Q>& slices, Accumulators& sums,
                           const Weight& weight, Array<Real, Q>& out) {
  using T = Tile<Q>;
  static_assert(Q * T::kSide <= T::kDepth * (Q + 1), "the partial sums do not fit into a slice");
  Real* partial = &slices.a[0][0];
  block.run([&](int thread) {
    FX_UNROLL
    for (int i = 0; i < T::kOwn; ++i) {
      Real sum = 0;
      FX_UNROLL
      for (int j = 0; j < T::kOwn; ++j)
        sum += weight(T::row(thread, i), T::column(thread, j)) * sums[thread].at[i][j];
      partial[T::row(thread, i) * T::kSide + T::column(thread, 0)] = sum;
    }
  });
  block.run([&](int thread) {
    if (thread >= Q) return;
    for (int x = 0; x < T::kSide; ++x) out[thread] += partial[thread * T::kSide + x];
  });
}

}  // namespace foxhunt::kernels::cuda
