#include "foxhunt/nn/device_check.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foxhunt/base/error.h"

namespace foxhunt::nn {

at::Device at_device(const DeviceSpec& device) {
  if (device.kind == DeviceKind::kCpu) return at::Device(at::kCPU);
  return {at::kCUDA, static_cast<at::DeviceIndex>(device.index)};
}

void check_device(std::string_view who, std::string_view name, const at::Tensor& tensor,
                  std::string_view owner, at::Device device) {
  if (!tensor.defined() || tensor.device() == device) return;
  throw DeviceError(fmt::format("[{}] {} lies on {}, but {} on {}", who, name,
                                tensor.device().str(), owner, device.str()));
}

void check_shape(std::string_view who, std::string_view name, const at::Tensor& tensor,
                 at::IntArrayRef expected) {
  if (!tensor.defined()) throw ShapeError(fmt::format("[{}] {} is undefined", who, name));
  bool fits = tensor.dim() == static_cast<std::int64_t>(expected.size());
  for (std::size_t i = 0; fits && i < expected.size(); ++i) {
    fits = expected[i] < 0 || expected[i] == tensor.sizes()[i];
  }
  if (fits) return;
  std::vector<std::string> wanted;
  for (const std::int64_t n : expected) wanted.push_back(n < 0 ? "any" : fmt::format("{}", n));
  throw ShapeError(fmt::format("[{}] {} is [{}], but must be [{}]", who, name,
                               fmt::join(tensor.sizes(), ", "), fmt::join(wanted, ", ")));
}

}  // namespace foxhunt::nn
