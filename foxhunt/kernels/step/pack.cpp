#include "foxhunt/kernels/step/pack.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::kernels {
namespace {

constexpr std::int64_t kAlign = 64;
constexpr float kLargestHalf = 65504.0F;

std::int64_t aligned(std::int64_t bytes) { return (bytes + kAlign - 1) / kAlign * kAlign; }

/// Where element [o, k] lies, in elements.
std::int64_t place_of(const PackedMatrix& m, const ProductKernel& kernel, std::int64_t o,
                      std::int64_t k) {
  const std::int64_t vector = o / kernel.lanes;
  const std::int64_t least = m.vectors / m.panels;
  const std::int64_t wide = m.vectors % m.panels;  // panels with one vector more
  const std::int64_t panel = vector < wide * (least + 1)
                                 ? vector / (least + 1)
                                 : wide + (vector - wide * (least + 1)) / least;
  const std::int64_t first = panel * least + std::min(panel, wide);
  const std::int64_t vectors = least + (panel < wide ? 1 : 0);
  const std::int64_t per_vector = kernel.lanes * kernel.group;
  const std::int64_t lane = o % kernel.lanes;
  const std::int64_t input = k % kernel.group;
  return first * per_vector * m.groups + k / kernel.group * vectors * per_vector +
         (vector - first) * per_vector +
         (kernel.inputs_first ? input * kernel.lanes + lane : lane * kernel.group + input);
}

PackedMatrix layout_of(std::int64_t out, std::int64_t in, const ProductKernel& kernel) {
  PackedMatrix m{};
  m.out = out;
  m.in = in;
  m.vectors = (out + kernel.lanes - 1) / kernel.lanes;
  m.panels = (m.vectors + kMostPanelVectors - 1) / kMostPanelVectors;
  m.groups = (in + kernel.group - 1) / kernel.group;
  return m;
}

}  // namespace

std::uint16_t to_bf16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16U) & 1U)) >> 16U);
}

float from_bf16(std::uint16_t v) { return std::bit_cast<float>(std::uint32_t{v} << 16U); }

std::uint16_t to_f16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t sign = (bits >> 16U) & 0x8000U;
  const float magnitude = std::abs(v);
  // Below 2^-14 halves are multiples of 2^-24: adding 0.5 in float rounds to just these.
  if (magnitude < 0x1p-14F) {
    const auto steps = std::bit_cast<std::uint32_t>(magnitude + 0.5F) & 0x7fffU;
    return static_cast<std::uint16_t>(sign | steps);
  }
  const std::uint32_t whole = bits & 0x7fffffffU;
  const std::uint32_t rounded = whole + 0xfffU + ((whole >> 13U) & 1U);
  return static_cast<std::uint16_t>(sign | ((rounded - (112U << 23U)) >> 13U));
}

float from_f16(std::uint16_t v) {
  const int exponent = (v >> 10U) & 31;
  const auto fraction = static_cast<float>(v & 0x3ffU);
  const float magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0F + fraction, exponent - 25);
  return (v & 0x8000U) != 0 ? -magnitude : magnitude;
}

std::int64_t matrix_bytes(const PackedMatrix& m, const ProductKernel& kernel) {
  return m.vectors * kernel.lanes * m.groups * kernel.group * element_bytes(kernel.type);
}

std::int64_t packed_bytes(std::int64_t out, std::int64_t in, const ProductKernel& kernel) {
  return aligned(matrix_bytes(layout_of(out, in, kernel), kernel)) + 3 * aligned(padded(out) * 4);
}

PackedMatrix pack_matrix(std::int64_t out, std::int64_t in, const float* weight, const float* fold,
                         const float* bias, const ProductKernel& kernel, std::byte* to) {
  PackedMatrix m = layout_of(out, in, kernel);
  std::byte* weights = to;
  to += aligned(matrix_bytes(m, kernel));
  const auto take = [&to, out](auto* like) {
    auto* const place = reinterpret_cast<decltype(like)>(to);
    to += aligned(padded(out) * 4);
    return place;
  };
  auto* const biases = take(static_cast<float*>(nullptr));
  auto* const scales = take(static_cast<float*>(nullptr));
  auto* const offsets = take(static_cast<std::int32_t*>(nullptr));
  m.weights = weights;
  if (bias != nullptr) {
    std::memcpy(biases, bias, static_cast<std::size_t>(out) * sizeof(float));
    m.bias = biases;
  }
  if (kernel.type == WeightType::kI8) {
    m.scale = scales;
    m.offset = offsets;
  }
  std::vector<float> row(static_cast<std::size_t>(in));
  for (std::int64_t o = 0; o < out; ++o) {
    float largest = 0.0F;
    for (std::int64_t k = 0; k < in; ++k) {
      const float v = weight[o * in + k] * (fold == nullptr ? 1.0F : fold[k]);
      if (!std::isfinite(v) || (kernel.type == WeightType::kF16 && std::abs(v) > kLargestHalf)) {
        throw ConfigError(
            fmt::format("[step] weight [{}, {}] = {} cannot be held by {}", o, k, v, kernel.name));
      }
      row[static_cast<std::size_t>(k)] = v;
      largest = std::max(largest, std::abs(v));
    }
    const float unit = largest > 0.0F ? largest / 127.0F : 1.0F;
    if (m.scale != nullptr) scales[o] = unit;
    for (std::int64_t k = 0; k < in; ++k) {
      const float v = row[static_cast<std::size_t>(k)];
      const std::int64_t at = place_of(m, kernel, o, k);
      const auto put = [&](auto value) {
        std::memcpy(weights + at * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
      };
      switch (kernel.type) {
        case WeightType::kF32:
          put(v);
          break;
        case WeightType::kF16:
          put(to_f16(v));
          break;
        case WeightType::kBF16:
          put(to_bf16(v));
          break;
        case WeightType::kI8: {
          const auto q = static_cast<std::int8_t>(std::lrint(v / unit));
          put(q);
          offsets[o] += q;
          break;
        }
      }
    }
  }
  return m;
}

std::vector<float> unpack_matrix(const PackedMatrix& m, const ProductKernel& kernel) {
  std::vector<float> all;
  all.reserve(static_cast<std::size_t>(m.out * m.in));
  const auto* bytes = static_cast<const std::byte*>(m.weights);
  for (std::int64_t o = 0; o < m.out; ++o) {
    for (std::int64_t k = 0; k < m.in; ++k) {
      const std::byte* p = bytes + place_of(m, kernel, o, k) * element_bytes(kernel.type);
      const auto get = [p](auto value) {
        std::memcpy(&value, p, sizeof value);
        return value;
      };
      switch (kernel.type) {
        case WeightType::kF32:
          all.push_back(get(0.0F));
          break;
        case WeightType::kF16:
          all.push_back(from_f16(get(std::uint16_t{0})));
          break;
        case WeightType::kBF16:
          all.push_back(from_bf16(get(std::uint16_t{0})));
          break;
        case WeightType::kI8:
          all.push_back(static_cast<float>(get(std::int8_t{0})) * m.scale[o]);
          break;
      }
    }
  }
  return all;
}

}  // namespace foxhunt::kernels
