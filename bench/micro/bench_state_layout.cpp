// One token over the state of a layer, answer and advance in one pass: channels innermost
// ([N, channels], as kernels/step holds it) against N innermost ([channels, N]).
//
//   build/release/bench/bench_state_layout
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

constexpr std::int64_t kLanes = 16;

struct Layer {
  Layer(std::int64_t c, std::int64_t n)
      : channels(c),
        N(n),
        state(at(c * n), 0.1F),
        decay(at(c), 0.9F),
        drive(at(c), 0.1F),
        B(at(n), 0.2F),
        C(at(n), 0.3F),
        y(at(c)) {}
  static std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
  std::int64_t channels, N;
  std::vector<float> state, decay, drive, B, C, y;
};

[[gnu::target("avx512f")]] void channels_innermost(Layer& l) {
  constexpr unsigned kVecs = 8;
  for (std::int64_t c = 0; c < l.channels; c += kLanes * std::int64_t{kVecs}) {
    __m512 sum[kVecs];
    __m512 decay[kVecs];
    __m512 drive[kVecs];
#pragma GCC unroll 8
    for (unsigned v = 0; v < kVecs; ++v) {
      sum[v] = _mm512_setzero_ps();
      decay[v] = _mm512_loadu_ps(l.decay.data() + c + v * kLanes);
      drive[v] = _mm512_loadu_ps(l.drive.data() + c + v * kLanes);
    }
    for (std::int64_t n = 0; n < l.N; ++n) {
      const __m512 B = _mm512_set1_ps(l.B[Layer::at(n)]);
      const __m512 C = _mm512_set1_ps(l.C[Layer::at(n)]);
      float* row = l.state.data() + n * l.channels + c;
#pragma GCC unroll 8
      for (unsigned v = 0; v < kVecs; ++v) {
        const __m512 old = _mm512_loadu_ps(row + v * kLanes);
        sum[v] = _mm512_fmadd_ps(old, C, sum[v]);
        _mm512_storeu_ps(row + v * kLanes,
                         _mm512_fmadd_ps(drive[v], B, _mm512_mul_ps(old, decay[v])));
      }
    }
#pragma GCC unroll 8
    for (unsigned v = 0; v < kVecs; ++v) {
      _mm512_storeu_ps(l.y.data() + c + v * kLanes, _mm512_mul_ps(sum[v], decay[v]));
    }
  }
}

template <unsigned kVecs>
[[gnu::target("avx512f")]] void n_innermost(Layer& l) {
  __m512 B[kVecs];
  __m512 C[kVecs];
#pragma GCC unroll 4
  for (unsigned k = 0; k < kVecs; ++k) {
    B[k] = _mm512_loadu_ps(l.B.data() + k * kLanes);
    C[k] = _mm512_loadu_ps(l.C.data() + k * kLanes);
  }
  for (std::int64_t c = 0; c < l.channels; ++c) {
    const std::size_t at = Layer::at(c);
    const __m512 decay = _mm512_set1_ps(l.decay[at]);
    const __m512 drive = _mm512_set1_ps(l.drive[at]);
    __m512 sum = _mm512_setzero_ps();
    float* row = l.state.data() + c * l.N;
#pragma GCC unroll 4
    for (unsigned k = 0; k < kVecs; ++k) {
      const __m512 old = _mm512_loadu_ps(row + k * kLanes);
      sum = _mm512_fmadd_ps(old, C[k], sum);
      _mm512_storeu_ps(row + k * kLanes, _mm512_fmadd_ps(drive, B[k], _mm512_mul_ps(old, decay)));
    }
    l.y[at] = l.decay[at] * _mm512_reduce_add_ps(sum);
  }
}

void run(benchmark::State& state, void (*step)(Layer&)) {
  if (__builtin_cpu_supports("avx512f") == 0) {
    state.SkipWithError("needs AVX-512");
    return;
  }
  Layer layer(state.range(0), state.range(1));
  for (auto _ : state) {
    step(layer);
    benchmark::DoNotOptimize(layer.y.data());
    benchmark::ClobberMemory();
  }
}

}  // namespace

BENCHMARK_CAPTURE(run, channels_innermost, channels_innermost)->Args({128, 16})->Args({128, 64});
BENCHMARK_CAPTURE(run, n_innermost, n_innermost<1>)->Args({128, 16});
BENCHMARK_CAPTURE(run, n_innermost, n_innermost<4>)->Args({128, 64});

BENCHMARK_MAIN();
