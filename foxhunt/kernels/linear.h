#pragma once
// y = x W^T + b and its gradients, in float32 or in bf16 with float32 sums.

#include <cstdint>

#include "foxhunt/kernels/gemm_bf16.h"
#include "foxhunt/kernels/kernel_table.h"
#include "foxhunt/kernels/ssd_workspace.h"

namespace foxhunt::kernels {

/// Who computes a product. bf16 rounds both sides of a product as it packs them; weights, results,
/// sums, biases and their gradients are float32 either way.
struct Products {
  const KernelTable& kernels;
  const Bf16Kernels* bf16 = nullptr;  ///< null: float32
};

/// The forward pass of one weight [out, in]; what it keeps of the weight is made once. `most_rows`
/// sizes its memory: of the order of a call's rows.
class LinearForward {
 public:
  LinearForward(const Products& products, std::int64_t in, std::int64_t out, const float* weight,
                std::int64_t most_rows);
  /// y [rows, out] = x [rows, in] weight^T, plus bias [out] or null; added to what y holds if
  /// `accumulate`. A row's result depends on the row alone.
  void run(std::int64_t rows, const float* x, const float* bias, float* y, bool accumulate) const;
  /// What one of these sizes holds beside the weight.
  static std::int64_t scratch_bytes(std::int64_t in, std::int64_t out, std::int64_t most_rows,
                                    bool bf16);

 private:
  Products products_;
  std::int64_t in_, out_, rows_;
  Scratch<float> turned_;                     ///< [in, out], float32
  Scratch<std::uint32_t> panels_, packed_x_;  ///< bf16
};

/// The backward pass of one weight [out, in].
class LinearBackward {
 public:
  LinearBackward(const Products& products, std::int64_t in, std::int64_t out, const float* weight,
                 std::int64_t most_rows);
  /// dx [rows, in] = dy weight, written.
  void input(std::int64_t rows, const float* dy, float* dx) const;
  /// dweight [out, in] += dy^T x, dbias [out] or null += column sums of dy; 512 rows at a time, so
  /// that a piece of both sides stays in the cache.
  void weight(std::int64_t rows, const float* dy, const float* x, float* dweight,
              float* dbias) const;
  /// What one of these sizes holds beside the weight.
  static std::int64_t scratch_bytes(std::int64_t in, std::int64_t out, std::int64_t most_rows,
                                    bool bf16);

 private:
  Products products_;
  std::int64_t in_, out_, rows_, depth_;
  const float* weight_;
  Scratch<std::uint32_t> panels_, packed_dy_, packed_x_;
};

}  // namespace foxhunt::kernels
