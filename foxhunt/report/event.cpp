#include "foxhunt/report/event.h"

#include <bit>
#include <concepts>

#include "foxhunt/report/crc32c.h"

namespace foxhunt::report {
namespace {

enum class Wire : std::uint64_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

template <std::unsigned_integral T>
std::string little_endian(T value) {
  std::string bytes;
  for (std::size_t i = 0; i < sizeof(T); ++i)
    bytes += static_cast<char>(static_cast<unsigned char>(value >> (8 * i)));
  return bytes;
}

std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>((value & 0x7FU) | 0x80U);
  return bytes + static_cast<char>(value);
}

std::string key(std::uint64_t field, Wire wire) {
  return varint(field << 3U | static_cast<std::uint64_t>(wire));
}

std::string bytes_field(std::uint64_t field, std::string_view bytes) {
  return key(field, Wire::kBytes) + varint(bytes.size()) + std::string(bytes);
}

std::string double_field(std::uint64_t field, double value) {
  return key(field, Wire::kFixed64) + little_endian(std::bit_cast<std::uint64_t>(value));
}

std::string float_field(std::uint64_t field, float value) {
  return key(field, Wire::kFixed32) + little_endian(std::bit_cast<std::uint32_t>(value));
}

// event.proto, message Event
constexpr std::uint64_t kWallTime = 1;
constexpr std::uint64_t kStep = 2;
constexpr std::uint64_t kFileVersion = 3;
constexpr std::uint64_t kSummary = 5;
// summary.proto, messages Summary and Summary.Value
constexpr std::uint64_t kValue = 1;
constexpr std::uint64_t kTag = 1;
constexpr std::uint64_t kSimpleValue = 2;

}  // namespace

std::string version_event(double wall_time) {
  return double_field(kWallTime, wall_time) + bytes_field(kFileVersion, "brain.Event:2");
}

std::string scalar_event(double wall_time, std::int64_t step, const std::vector<Scalar>& scalars) {
  std::string summary;
  for (const Scalar& scalar : scalars) {
    summary += bytes_field(kValue, bytes_field(kTag, scalar.tag) +
                                       float_field(kSimpleValue, static_cast<float>(scalar.value)));
  }
  return double_field(kWallTime, wall_time) + key(kStep, Wire::kVarint) +
         varint(static_cast<std::uint64_t>(step)) + bytes_field(kSummary, summary);
}

std::string record(std::string_view bytes) {
  const std::string length = little_endian(static_cast<std::uint64_t>(bytes.size()));
  return length + little_endian(masked_crc32c(length)) + std::string(bytes) +
         little_endian(masked_crc32c(bytes));
}

}  // namespace foxhunt::report
