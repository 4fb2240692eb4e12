#pragma once
// A projection as a product kernel wants it.

#include <cstdint>
#include <vector>

#include "foxhunt/kernels/step/product.h"

namespace foxhunt::kernels {

/// Bytes of weights, then bias, scale and offset, in one piece of a block, each 64-byte aligned.
std::int64_t packed_bytes(std::int64_t out, std::int64_t in, const ProductKernel& kernel);

/// Bytes of the weights alone: what one product reads of them.
std::int64_t matrix_bytes(const PackedMatrix& m, const ProductKernel& kernel);

/// W [out, in] times `fold` [in] by column (null: as it is), rounded to the kernel's type; written
/// to `to`, which is zero and holds packed_bytes().
/// kI8   a row's scale is its largest magnitude / 127, values to the nearest, ties to even.
/// Errors  ConfigError naming row and column: not finite, or beyond the largest half.
PackedMatrix pack_matrix(std::int64_t out, std::int64_t in, const float* weight, const float* fold,
                         const float* bias, const ProductKernel& kernel, std::byte* to);

/// What the packed matrix holds, as floats [out, in]: for tests and for error messages.
std::vector<float> unpack_matrix(const PackedMatrix& m, const ProductKernel& kernel);

/// Rounding as the kernels do it, nearest even.
std::uint16_t to_bf16(float v);
float from_bf16(std::uint16_t v);
std::uint16_t to_f16(float v);
float from_f16(std::uint16_t v);

}  // namespace foxhunt::kernels
