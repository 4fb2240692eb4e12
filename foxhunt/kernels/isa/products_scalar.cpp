// Narrow weights on any CPU: what the other files of this kind are held to.
#include "foxhunt/kernels/isa/narrow.inl.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {
namespace {

using V = ScalarVec<float>;
bool runs() noexcept { return true; }

struct Bf16 : F32Form<V> {
  static constexpr int kElement = 4;  // a pair
  struct Input {
    float first, second;
  };
  static const void* prepare(const float* x, int64_t in, void* scratch, float*) {
    return rounded_inputs(x, in, scratch);
  }
  static Input input(const void* x, int64_t k) {
    const auto* pair = static_cast<const float*>(x) + 2 * k;
    return {pair[0], pair[1]};
  }
  static void madd(Acc& acc, const char* w, Input x) {
    uint16_t pair[2];
    __builtin_memcpy(pair, w, 4);
    acc.v += x.first * bf16_value(pair[0]);
    acc.v += x.second * bf16_value(pair[1]);
  }
};

struct F16 : F32Form<V> {
  static constexpr int kElement = 2;
  static void madd(Acc& acc, const char* w, Input x) {
    uint16_t half;
    __builtin_memcpy(&half, w, 2);
    acc.v += x.v * half_value(half);
  }
};

struct I8 {
  using Acc = int32_t;
  using Input = int32_t;
  static constexpr int kLanes = 1;
  static constexpr int kElement = 1;
  static Acc zero() { return 0; }
  static const void* prepare(const float* x, int64_t in, void* scratch, float* worth) {
    return whole_inputs<int8_t, 0>(x, in, 1, scratch, worth);
  }
  static Input input(const void* x, int64_t k) { return static_cast<const int8_t*>(x)[k]; }
  static void madd(Acc& acc, const char* w, Input x) {
    acc += x * *reinterpret_cast<const int8_t*>(w);
  }
  static Acc sum(Acc a, Acc b) { return a + b; }
  static void finish(Acc acc, const PackedMatrix& m, int64_t o, float worth, float gain, bool add,
                     float* y) {
    store_output<V>({static_cast<float>(acc) * m.scale[o]}, m, o, gain * worth, add, y);
  }
};

}  // namespace

constinit const ProductKernel kScalarBf16 = {"scalar", "scalar", WeightType::kBF16, &runs, 1,
                                             2,        false,    &product<Bf16>};
constinit const ProductKernel kScalarF16 = {"scalar", "scalar", WeightType::kF16, &runs, 1,
                                            1,        false,    &product<F16>};
constinit const ProductKernel kScalarI8 = {"scalar", "scalar", WeightType::kI8, &runs,
                                           1,        1,        false,           &product<I8>};

}  // namespace foxhunt::kernels
