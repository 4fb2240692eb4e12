#include "foxhunt/latency/stream_readers.h"

#include <immintrin.h>

#include <cstddef>

// Each function carries its instruction set itself and calls intrinsics only, so that no function
// compiled for a newer CPU can be picked by the linker for others. Sanitizers stay outside: they
// would be what is measured.
//
// Each stores its sums as lanes and ends with vzeroupper, which GCC 12 leaves out of such
// functions: upper halves left dirty made SSE code of the same process 5 times slower until the
// next context switch (Zen 4). What adds the lanes up is compiled for any CPU.
#define FOXHUNT_READER(isa)                                                                       \
  [[gnu::noinline, gnu::no_sanitize_address, gnu::no_sanitize_undefined, gnu::no_sanitize_thread, \
    gnu::optimize("O3"), gnu::target(isa)]] void

namespace foxhunt::latency {
namespace {

// Loads are combined with `or`: a bit operation, cheaper than the load it consumes. The result
// depends on every bit.

FOXHUNT_READER("avx512f") load_avx512(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  __m512i sum[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                    _mm512_setzero_si512()};
  for (; p < end; p += 256) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i) {
      sum[i % 4] = _mm512_or_si512(sum[i % 4], _mm512_load_si512(p + 16 * i));
    }
  }
  const __m512i all =
      _mm512_or_si512(_mm512_or_si512(sum[0], sum[1]), _mm512_or_si512(sum[2], sum[3]));
  _mm512_store_ps(lanes, _mm512_castsi512_ps(all));
  _mm256_zeroupper();
}

FOXHUNT_READER("avx512f") fma_avx512(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  const __m512 x = _mm512_set1_ps(0.5F);
  __m512 sum[16];
#pragma GCC unroll 16
  for (std::ptrdiff_t i = 0; i < 16; ++i) sum[i] = _mm512_setzero_ps();
  for (; p < end; p += 256) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i)
      sum[i] = _mm512_fmadd_ps(x, _mm512_load_ps(p + 16 * i), sum[i]);
  }
  __m512 all = _mm512_setzero_ps();
#pragma GCC unroll 16
  for (std::ptrdiff_t i = 0; i < 16; ++i) all = _mm512_add_ps(all, sum[i]);
  _mm512_store_ps(lanes, all);
  _mm256_zeroupper();
}

FOXHUNT_READER("avx2,fma") load_avx2(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  __m256 sum[4] = {_mm256_setzero_ps(), _mm256_setzero_ps(), _mm256_setzero_ps(),
                   _mm256_setzero_ps()};
  for (; p < end; p += 128) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i)
      sum[i % 4] = _mm256_or_ps(sum[i % 4], _mm256_load_ps(p + 8 * i));
  }
  _mm256_store_ps(lanes, _mm256_or_ps(_mm256_or_ps(sum[0], sum[1]), _mm256_or_ps(sum[2], sum[3])));
  _mm256_zeroupper();
}

FOXHUNT_READER("avx2,fma") fma_avx2(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  const __m256 x = _mm256_set1_ps(0.5F);
  __m256 sum[8];
#pragma GCC unroll 8
  for (std::ptrdiff_t i = 0; i < 8; ++i) sum[i] = _mm256_setzero_ps();
  for (; p < end; p += 128) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i) {
      sum[i % 8] = _mm256_fmadd_ps(x, _mm256_load_ps(p + 8 * i), sum[i % 8]);
    }
  }
  __m256 all = _mm256_setzero_ps();
#pragma GCC unroll 8
  for (std::ptrdiff_t i = 0; i < 8; ++i) all = _mm256_add_ps(all, sum[i]);
  _mm256_store_ps(lanes, all);
  _mm256_zeroupper();
}

// SSE2: what every x86-64 CPU has.

FOXHUNT_READER("sse2") load_sse2(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  __m128 sum[4] = {_mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps(), _mm_setzero_ps()};
  for (; p < end; p += 64) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i)
      sum[i % 4] = _mm_or_ps(sum[i % 4], _mm_load_ps(p + 4 * i));
  }
  _mm_store_ps(lanes, _mm_or_ps(_mm_or_ps(sum[0], sum[1]), _mm_or_ps(sum[2], sum[3])));
}

FOXHUNT_READER("sse2") fma_sse2(const float* p, std::int64_t count, float* lanes) noexcept {
  const float* const end = p + count;
  const __m128 x = _mm_set1_ps(0.5F);
  __m128 sum[8];
#pragma GCC unroll 8
  for (std::ptrdiff_t i = 0; i < 8; ++i) sum[i] = _mm_setzero_ps();
  for (; p < end; p += 64) {
#pragma GCC unroll 16
    for (std::ptrdiff_t i = 0; i < 16; ++i) {
      sum[i % 8] = _mm_add_ps(sum[i % 8], _mm_mul_ps(x, _mm_load_ps(p + 4 * i)));
    }
  }
  __m128 all = _mm_setzero_ps();
#pragma GCC unroll 8
  for (std::ptrdiff_t i = 0; i < 8; ++i) all = _mm_add_ps(all, sum[i]);
  _mm_store_ps(lanes, all);
}

template <auto kRead>
float sum_of(const float* floats, std::int64_t count) noexcept {
  alignas(64) float lanes[16] = {};
  kRead(floats, count, lanes);
  float sum = 0.0F;
  for (const float lane : lanes) sum += lane;
  return sum;
}

bool has_avx512() noexcept { return __builtin_cpu_supports("avx512f") != 0; }
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool always() noexcept { return true; }

constexpr StreamReader kReaders[] = {{"load_avx512", &has_avx512, &sum_of<&load_avx512>},
                                     {"fma_avx512", &has_avx512, &sum_of<&fma_avx512>},
                                     {"load_avx2", &has_avx2, &sum_of<&load_avx2>},
                                     {"fma_avx2", &has_avx2, &sum_of<&fma_avx2>},
                                     {"load_sse2", &always, &sum_of<&load_sse2>},
                                     {"fma_sse2", &always, &sum_of<&fma_sse2>}};

}  // namespace

std::span<const StreamReader> stream_readers() noexcept { return kReaders; }

}  // namespace foxhunt::latency
