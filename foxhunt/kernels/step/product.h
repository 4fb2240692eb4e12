#pragma once
// Matrix times vector for one token, or for a few streams at once: the packed weights of one
// projection stream through the cache once.
//
// Outputs lie in vectors of `lanes`; vectors are gathered into panels that stay in registers while
// the inputs run. Within a panel lie the inputs in groups of `group` (what one instruction takes),
// for each group every vector of the panel, for each lane the weights of its group:
//
//   weights[panel][k / group][vector][lane][k % group]     (or the last two the other way round)
//
// Rows and inputs beyond the matrix are zero. Plain data only: files compiled with their own
// instruction set include this.

#include <stdint.h>

namespace foxhunt::kernels {

/// How the weights of a projection are held; state, sums and everything else are float.
enum class WeightType : uint8_t {
  kF32,
  kF16,   ///< IEEE half
  kBF16,  ///< weights and inputs rounded to bfloat16, nearest even
  kI8,    ///< weights [-127, 127] by row, inputs by vector; exact integer sums
};

constexpr int64_t element_bytes(WeightType type) {
  return type == WeightType::kF32 ? 4 : type == WeightType::kI8 ? 1 : 2;
}

inline constexpr int64_t kMostPanelVectors = 12;
inline constexpr int64_t kMostStreams = 4;
/// Every vector of floats that a product reads or writes has this many more than a multiple asks
/// for: whole vectors are stored.
inline constexpr int64_t kLanePad = 32;
inline int64_t padded(int64_t n) { return (n + kLanePad - 1) / kLanePad * kLanePad; }

struct PackedMatrix {
  int64_t out, in;
  int64_t vectors;        ///< out / lanes, rounded up
  int64_t panels;         ///< of vectors / panels vectors each, the first vectors % panels one more
  int64_t groups;         ///< in / group, rounded up
  const void* weights;    ///< 64-byte aligned
  const float* bias;      ///< [padded(out)] or null
  const float* scale;     ///< [padded(out)] kI8: what one unit of a row is worth; else null
  const int32_t* offset;  ///< [padded(out)] kI8: sum of a row; else null
};

/// Sums over the inputs run in 1, 2, 4 or 8 chains of their own, so that a panel of few vectors
/// keeps the multipliers busy; a property of the panel, so that it changes no bit how many streams
/// there are.
constexpr unsigned chains_of(unsigned panel_vectors) {
  return panel_vectors >= 7 ? 1 : panel_vectors >= 4 ? 2 : panel_vectors >= 2 ? 4 : 8;
}

/// y[o] = gain (W x)[o] + bias[o], plus what y[o] was with `add`; a stream each.
struct Product {
  int64_t streams;  ///< 1 .. kMostStreams
  bool add;
  const float* x[kMostStreams];  ///< [padded(in)]
  float* y[kMostStreams];        ///< [padded(out)]; what lies beyond `out` holds no news
  float gain[kMostStreams];
  void* scratch;  ///< product_scratch(in) bytes, 64-byte aligned
};
inline int64_t product_scratch(int64_t in) { return kMostStreams * padded(in) * 4; }

/// Errors  none: noexcept, no allocation. x is finite.
/// Cost    2 out in flop a stream; reads the packed bytes once.
using ProductFn = void (*)(const PackedMatrix& m, const Product& p) noexcept;

/// One weight type on one instruction set.
struct ProductKernel {
  const char* name;   ///< "avx512bf16"
  const char* table;  ///< of StepKernels: who may use this, "avx512"
  WeightType type;
  bool (*runs_here)() noexcept;
  int64_t lanes, group;
  bool inputs_first;  ///< within a vector lie the lanes of one input, then those of the next
  ProductFn run;
};

}  // namespace foxhunt::kernels
