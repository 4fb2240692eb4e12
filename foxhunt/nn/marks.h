#pragma once
// WindowMarks, checked once a call and turned into what the layers need.

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>

#include "foxhunt/nn/mamba2_state.h"

namespace foxhunt::nn {

/// Undefined tensors: nothing to do.
struct PreparedMarks {
  at::Tensor segments;  ///< [B, T] int64: 0 for what continues the state, one more at each
                        ///< boundary, constant in padding
  at::Tensor valid;     ///< [B, T] bool: not padding
  at::Tensor lengths;   ///< [B] int64

  /// `values` [B, T, ..] with zeros in the padding, whatever was there (NaN too).
  at::Tensor without_padding(const at::Tensor& values) const;
  /// Position [B] behind the window of `tokens` tokens.
  at::Tensor advance(const at::Tensor& position, std::int64_t tokens) const;
};

/// Errors  ShapeError, DeviceError naming both devices (`owner` decides). Lengths outside 0..T are
/// a ShapeError on the
///         CPU; on another device, where looking would stall it, they are clamped.
PreparedMarks prepare_marks(const WindowMarks& marks, std::int64_t batch, std::int64_t tokens,
                            at::Device device, std::string_view who, std::string_view owner);

}  // namespace foxhunt::nn
