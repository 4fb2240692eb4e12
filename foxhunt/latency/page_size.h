#pragma once
// Which pages a block of memory really lies in.

#include <cstdint>
#include <string>
#include <string_view>

namespace foxhunt::latency {

/// "4 KB", "2 MB" (huge pages cover the whole mapping), "4 KB and 2 MB (512 of 1024 KB)", of the
/// mapping that holds `address`; "unknown" where /proc does not say.
std::string page_size_of(const void* address);

/// The same from the text of /proc/PID/smaps.
std::string page_size_in(std::string_view smaps, std::uint64_t address);

}  // namespace foxhunt::latency
