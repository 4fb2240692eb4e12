#pragma once
// Sizes of memory as people write them.

#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::train {

/// "4GB" is 4e9 bytes and "4GiB" 2^32, likewise K, M and T; "1.5GB", "4 gb" and plain bytes
/// ("1000000", "0") are fine. At most 2^62.
/// Errors  ConfigError naming the text: no number, an unknown unit, below 0, too large.
std::int64_t parse_byte_size(std::string_view text);

}  // namespace foxhunt::train
