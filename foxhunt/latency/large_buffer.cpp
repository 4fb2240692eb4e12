#include "foxhunt/latency/large_buffer.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "foxhunt/base/error.h"

namespace foxhunt::latency {
namespace {
constexpr std::int64_t kLargePage = 2 << 20;
}

LargeBuffer::LargeBuffer(std::int64_t bytes)
    : place_(MAP_FAILED),
      mapped_(0),
      floats_(nullptr),
      bytes_((std::max<std::int64_t>(bytes, 1) + kLargePage - 1) / kLargePage * kLargePage) {
  mapped_ = static_cast<std::size_t>(bytes_ + kLargePage);  // room to align
  place_ = ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place_ == MAP_FAILED) {
    throw Error(ExitCode::kMemory,
                fmt::format("[latency] {} bytes for a buffer: {}", mapped_, std::strerror(errno)));
  }
  const auto address = reinterpret_cast<std::uintptr_t>(place_);
  const std::uintptr_t skip = (kLargePage - address % kLargePage) % kLargePage;
  floats_ = reinterpret_cast<float*>(static_cast<std::byte*>(place_) + skip);
  ::madvise(floats_, static_cast<std::size_t>(bytes_), MADV_HUGEPAGE);  // a wish
  std::fill_n(floats_, bytes_ / static_cast<std::int64_t>(sizeof(float)), 1.0F);
}

LargeBuffer::~LargeBuffer() { ::munmap(place_, mapped_); }

}  // namespace foxhunt::latency
