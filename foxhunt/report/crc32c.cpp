#include "foxhunt/report/crc32c.h"

#include <array>

namespace foxhunt::report {
namespace {

constexpr std::uint32_t kReversedPolynomial = 0x82F63B78U;
constexpr std::uint32_t kMaskDelta = 0xA282EAD8U;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc & 1U) != 0 ? (crc >> 1U) ^ kReversedPolynomial : crc >> 1U;
    table[byte] = crc;
  }
  return table;
}

constexpr std::array<std::uint32_t, 256> kTable = make_table();

}  // namespace

std::uint32_t crc32c(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char c : bytes)
    crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFFU] ^ (crc >> 8U);
  return ~crc;
}

std::uint32_t masked_crc32c(std::string_view bytes) {
  const std::uint32_t crc = crc32c(bytes);
  return ((crc >> 15U) | (crc << 17U)) + kMaskDelta;
}

}  // namespace foxhunt::report
