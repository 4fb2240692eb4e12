#pragma once
// The checksum of TensorBoard's record files: CRC-32C (Castagnoli), and its masked form.

#include <cstdint>
#include <string_view>

namespace foxhunt::report {

/// Cost  a table look-up a byte. Source  RFC 3720, section 12.1 and appendix B.4.
std::uint32_t crc32c(std::string_view bytes);

/// As record files store it, so that a checksum over bytes that hold checksums stays strong.
std::uint32_t masked_crc32c(std::string_view bytes);

}  // namespace foxhunt::report
