#pragma once
// What every fuzz target uses. A target is one file, fuzz/NAME_fuzz.cpp, with one function
//
//     extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
//
// and one line in fuzz/CMakeLists.txt. It ends the program where a property does not hold; an
// exception that it does not name ends the program too.

#include <cstddef>
#include <cstdint>
#include <string>

namespace foxhunt::fuzz {

/// Ends the program, saying `property`, unless it `holds`: also in builds without assertions.
void require(bool holds, const char* property);

inline std::string text_of(const std::uint8_t* data, std::size_t size) {
  return size == 0 ? std::string() : std::string(reinterpret_cast<const char*>(data), size);
}

/// While it lives, the program ends where more than `bytes` are allocated by operator new over what
/// was when it began. What C libraries take for themselves (zstd's window) is not seen: libFuzzer's
/// -malloc_limit_mb bounds that. One at a time, in one thread.
class AllocationLimit {
 public:
  explicit AllocationLimit(std::size_t bytes);
  ~AllocationLimit();
  AllocationLimit(const AllocationLimit&) = delete;
  AllocationLimit& operator=(const AllocationLimit&) = delete;
};

}  // namespace foxhunt::fuzz
