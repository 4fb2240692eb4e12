#pragma once
// Refuses operands that lie on two devices, with an error that names both and the tensor.

#include <ATen/core/Tensor.h>

#include <string_view>

#include "foxhunt/nn/device.h"

namespace foxhunt::nn {

/// LibTorch's name for the device. Does not open it.
at::Device at_device(const DeviceSpec& device);

/// Errors  DeviceError "[who] x lies on cpu, but backbone.layers.0 on meta": `owner` is the module
/// or tensor that
///         decides, and lies on `device`. An undefined tensor passes.
void check_device(std::string_view who, std::string_view name, const at::Tensor& tensor,
                  std::string_view owner, at::Device device);

/// Errors  ShapeError "[who] x is [2, 3], but must be [2, 4]"; a negative size in `expected`
/// matches any.
void check_shape(std::string_view who, std::string_view name, const at::Tensor& tensor,
                 at::IntArrayRef expected);

}  // namespace foxhunt::nn
