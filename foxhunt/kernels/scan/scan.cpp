#include "foxhunt/kernels/scan/scan.h"

#include <fmt/format.h>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/scan/chunked.h"

namespace foxhunt::kernels {

void check_scan_ranges(const void* in, std::int64_t in_size, const void* out, std::int64_t out_size,
                       std::int64_t value_bytes) {
  if (in_size != out_size) {
    throw ShapeError(fmt::format("[scan] in has {} values and out {}, but they must be equal",
                                 in_size, out_size));
  }
  // As numbers: < on pointers into two arrays means nothing.
  const auto first = reinterpret_cast<std::uintptr_t>(in);
  const auto second = reinterpret_cast<std::uintptr_t>(out);
  const std::uintptr_t apart = first < second ? second - first : first - second;
  if (apart != 0 && apart < static_cast<std::uintptr_t>(in_size * value_bytes)) {
    throw ShapeError(fmt::format(
        "[scan] in and out overlap, {} bytes apart, but they must be one range or not touch",
        apart));
  }
}

void check_scan_chunk(std::int64_t chunk) {
  if (chunk < 1) {
    throw ShapeError(fmt::format("[scan] chunk = {}, but it must be at least 1", chunk));
  }
}

}  // namespace foxhunt::kernels
