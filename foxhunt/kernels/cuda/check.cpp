#include "foxhunt/kernels/cuda/check.h"

#include <fmt/format.h>

#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/cuda/plan.h"

namespace foxhunt::kernels::cuda {
namespace {

std::string sizes(const Shape& s) {
  return fmt::format("B={} T={} H={} P={} G={} N={}", s.batch, s.tokens, s.heads, s.headdim,
                     s.groups, s.d_state);
}

}  // namespace

void check_shape(const char* kernel, const Shape& s) {
  const auto refuse = [&](const char* rule) {
    throw ShapeError(fmt::format("[{}] {}: {}", kernel, sizes(s), rule));
  };
  for (const std::int64_t n : {s.batch, s.tokens, s.heads, s.headdim, s.groups, s.d_state}) {
    if (n < 1) refuse("every size must be at least 1");
  }
  if (s.heads % s.groups != 0) refuse("the groups must divide the heads");
  // The largest count is that of the workspace: at most about five times this product.
  std::int64_t product = 8;
  for (const std::int64_t n : {s.batch, s.tokens, s.heads, s.headdim, s.d_state}) {
    if (__builtin_mul_overflow(product, n, &product)) refuse("too many values for 63 bits");
  }
}

void check_operand(const char* kernel, const char* operand, const void* pointer) {
  if (pointer == nullptr) throw ShapeError(fmt::format("[{}] {} is null", kernel, operand));
}

void throw_launch_error(const char* kernel, const Shape& shape, std::int64_t blocks, int threads,
                        int device, const char* reason) {
  throw DeviceError(fmt::format("[{}] {}; {}, {} blocks of {} threads on cuda:{}", kernel, reason,
                                sizes(shape), blocks, threads, device));
}

void throw_cuda_error(const char* what, const char* reason) {
  throw DeviceError(fmt::format("[cuda] {}: {}", what, reason));
}

}  // namespace foxhunt::kernels::cuda
