#include "foxhunt/kernels/linear.h"

#include <algorithm>

namespace foxhunt::kernels {
namespace {

/// Rows of one packed left side: enough for the matrix kernel, few enough to stay in L2.
constexpr std::int64_t kRows = 128;
/// Rows that one product for a weight's gradient sums over.
constexpr std::int64_t kDepth = 512;

/// A count of numbers that only bf16 needs.
std::int64_t if_bf16(const Products& products, std::int64_t count) {
  return products.bf16 == nullptr ? 0 : count;
}

/// c [rows, width] = [c +] a [rows, depth] times the panels, kRows rows at a time.
void times_panels(const Bf16Kernels& bf16, std::int64_t rows, std::int64_t depth,
                  std::int64_t width, const float* a, const Scratch<std::uint32_t>& panels,
                  const Scratch<std::uint32_t>& packed, std::int64_t at_once, float* c,
                  bool accumulate) {
  const std::int64_t pairs = bf16_pairs(depth);
  for (std::int64_t from = 0; from < rows; from += at_once) {
    const std::int64_t count = std::min(at_once, rows - from);
    bf16.pack_rows({count, depth, a + from * depth, depth, packed.data()});
    bf16.gemm({count, width, pairs, packed.data(), pairs, 1, panels.data(), c + from * width, width,
               accumulate});
  }
}

}  // namespace

LinearForward::LinearForward(const Products& products, std::int64_t in, std::int64_t out,
                             const float* weight, std::int64_t most_rows)
    : products_(products),
      in_(in),
      out_(out),
      rows_(std::clamp<std::int64_t>(most_rows, 1, kRows)),
      turned_(products.bf16 == nullptr ? in * out : 0),
      panels_(if_bf16(products, bf16_panels_size(in, out))),
      packed_x_(if_bf16(products, rows_ * bf16_pairs(in))) {
  if (products.bf16 != nullptr) {
    products.bf16->pack_panels_turned({out, in, weight, in, panels_.data()});
  } else {
    products.kernels.transpose(out, in, weight, in, turned_.data(), out);
  }
}

std::int64_t LinearForward::scratch_bytes(std::int64_t in, std::int64_t out, std::int64_t most_rows,
                                          bool bf16) {
  const std::int64_t rows = std::clamp<std::int64_t>(most_rows, 1, kRows);
  return 4 * (bf16 ? bf16_panels_size(in, out) + rows * bf16_pairs(in) : in * out);
}

void LinearForward::run(std::int64_t rows, const float* x, const float* bias, float* y,
                        bool accumulate) const {
  for (std::int64_t i = 0; bias != nullptr && i < rows * out_; ++i) {
    y[i] = bias[i % out_] + (accumulate ? y[i] : 0.0F);
  }
  const bool add = accumulate || bias != nullptr;
  if (products_.bf16 != nullptr) {
    times_panels(*products_.bf16, rows, in_, out_, x, panels_, packed_x_, rows_, y, add);
  } else {
    products_.kernels.gemm({rows, out_, in_, x, in_, 1, turned_.data(), out_, y, out_, add});
  }
}

LinearBackward::LinearBackward(const Products& products, std::int64_t in, std::int64_t out,
                               const float* weight, std::int64_t most_rows)
    : products_(products),
      in_(in),
      out_(out),
      rows_(std::clamp<std::int64_t>(most_rows, 1, kRows)),
      depth_(std::clamp<std::int64_t>(most_rows, 1, kDepth)),
      weight_(weight),
      panels_(if_bf16(products, bf16_panels_size(out, in))),
      packed_dy_(if_bf16(products, std::max(rows_ * bf16_pairs(out), bf16_pairs(depth_) * out))),
      packed_x_(if_bf16(products, bf16_panels_size(depth_, in))) {
  if (products.bf16 != nullptr) products.bf16->pack_panels({out, in, weight, in, panels_.data()});
}

std::int64_t LinearBackward::scratch_bytes(std::int64_t in, std::int64_t out,
                                           std::int64_t most_rows, bool bf16) {
  if (!bf16) return 0;
  const std::int64_t rows = std::clamp<std::int64_t>(most_rows, 1, kRows);
  const std::int64_t depth = std::clamp<std::int64_t>(most_rows, 1, kDepth);
  return 4 *
         (bf16_panels_size(out, in) + std::max(rows * bf16_pairs(out), bf16_pairs(depth) * out) +
          bf16_panels_size(depth, in));
}

void LinearBackward::input(std::int64_t rows, const float* dy, float* dx) const {
  if (products_.bf16 != nullptr) {
    times_panels(*products_.bf16, rows, out_, in_, dy, panels_, packed_dy_, rows_, dx, false);
  } else {
    products_.kernels.gemm({rows, in_, out_, dy, out_, 1, weight_, in_, dx, in_, false});
  }
}

void LinearBackward::weight(std::int64_t rows, const float* dy, const float* x, float* dweight,
                            float* dbias) const {
  const float one = 1.0F;
  for (std::int64_t from = 0; from < rows; from += depth_) {
    const std::int64_t depth = std::min(depth_, rows - from);
    const float* d = dy + from * out_;
    const float* u = x + from * in_;
    if (products_.bf16 != nullptr) {
      const Bf16Kernels& bf16 = *products_.bf16;
      bf16.pack_turned({depth, out_, d, out_, packed_dy_.data()});
      bf16.pack_panels({depth, in_, u, in_, packed_x_.data()});
      bf16.gemm({out_, in_, bf16_pairs(depth), packed_dy_.data(), 1, out_, packed_x_.data(),
                 dweight, in_, true});
    } else {
      products_.kernels.gemm({out_, in_, depth, d, 1, out_, u, in_, dweight, in_, true});
    }
    if (dbias == nullptr) continue;
    products_.kernels.gemm({1, out_, depth, &one, 0, 0, d, out_, dbias, out_, true});
  }
}

}  // namespace foxhunt::kernels
