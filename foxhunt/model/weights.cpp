#include "foxhunt/model/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "foxhunt/base/error.h"
#include "foxhunt/model/tensor_list.h"

namespace foxhunt::model {
namespace {

float float_of_half(std::uint16_t half) {
  const std::uint32_t sign = (half & 0x8000U) << 16U;
  const std::uint32_t rest = half & 0x7FFFU;
  if (rest >= 0x7C00U) {  // infinity, or NaN with its payload
    return std::bit_cast<float>(sign | 0x7F80'0000U | (rest & 0x3FFU) << 13U);
  }
  if (rest < 0x400U) {  // zero and subnormals: multiples of 2^-24, which are normal floats
    const float magnitude = static_cast<float>(rest) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  constexpr std::uint32_t kBiasDifference = 127 - 15;
  return std::bit_cast<float>(sign | ((rest << 13U) + (kBiasDifference << 23U)));
}

float float_of_bfloat(std::uint16_t value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16U);
}

template <class Convert>
std::vector<float> widened(const TensorView& view, Convert convert) {
  std::vector<float> values(view.bytes.size() / 2);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::uint16_t narrow = 0;  // the file's bytes need not be aligned
    std::memcpy(&narrow, view.bytes.data() + 2 * i, 2);
    values[i] = convert(narrow);
  }
  return values;
}

bool same_bytes(const TensorView& a, const TensorView& b) {
  return a.dtype == b.dtype && a.shape == b.shape && std::ranges::equal(a.bytes, b.bytes);
}

/// The file's tensors under canonical names, without a tied head's second copy of the embedding.
std::map<std::string, const TensorView*> by_canonical_name(const SafetensorsFile& file,
                                                           const HeadConfig& head,
                                                           std::vector<std::string>& problems) {
  std::map<std::string, const TensorView*> views;
  for (const TensorView& view : file.tensors()) {
    const std::string name = canonical_tensor_name(view.name);
    if (!views.emplace(name, &view).second)
      problems.push_back(fmt::format("'{}' is there twice, also as '{}'", name, view.name));
  }
  const auto tied = views.find("lm_head.weight");
  const auto embedding = views.find("backbone.embeddings.weight");
  if (head.kind == HeadKind::kTokens && head.tied && tied != views.end()) {
    if (embedding != views.end() && !same_bytes(*tied->second, *embedding->second))
      problems.emplace_back("'lm_head.weight' differs from the embedding, but the head is tied");
    views.erase(tied);
  }
  return views;
}

}  // namespace

std::vector<float> floats_of(const TensorView& view) {
  if (view.dtype == DType::kF16) return widened(view, float_of_half);
  if (view.dtype == DType::kBF16) return widened(view, float_of_bfloat);
  if (view.dtype != DType::kF32) {
    throw FormatError(fmt::format("tensor '{}' is {}, but must be F32, F16 or BF16", view.name,
                                  to_string(view.dtype)));
  }
  std::vector<float> values(view.bytes.size() / sizeof(float));
  if (!values.empty()) std::memcpy(values.data(), view.bytes.data(), view.bytes.size());
  return values;
}

std::map<std::string, std::vector<float>> read_weights(const SafetensorsFile& file,
                                                       const Mamba2Config& config,
                                                       const HeadConfig& head) {
  std::vector<std::string> problems;
  std::map<std::string, const TensorView*> views = by_canonical_name(file, head, problems);
  std::map<std::string, std::vector<float>> weights;
  for (const TensorInfo& info : tensor_list(config, head)) {
    const auto node = views.extract(info.name);
    if (node.empty()) {
      problems.push_back(fmt::format("'{}' is missing", info.name));
      continue;
    }
    const TensorView& view = *node.mapped();
    if (view.shape != info.shape) {
      problems.push_back(fmt::format("'{}' is [{}], but the model says [{}]", info.name,
                                     fmt::join(view.shape, ", "), fmt::join(info.shape, ", ")));
      continue;
    }
    try {
      std::vector<float>& values = weights[info.name] = floats_of(view);
      if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); }))
        problems.push_back(fmt::format("'{}' has a value that is not finite", info.name));
    } catch (const FormatError& error) {
      problems.emplace_back(error.what());
    }
  }
  for (const auto& [name, view] : views) problems.push_back(fmt::format("'{}' is extra", name));
  if (!problems.empty()) {
    throw FormatError(fmt::format("{}: does not hold this model's weights: {}", file.name(),
                                  fmt::join(problems, "; ")));
  }
  return weights;
}

}  // namespace foxhunt::model
