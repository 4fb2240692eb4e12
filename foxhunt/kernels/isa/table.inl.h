#pragma once
// The table of one vector type. Each isa/kernels_*.cpp includes this with its own flags.

#include "foxhunt/kernels/isa/conv1d.inl.h"
#include "foxhunt/kernels/isa/elementwise.inl.h"
#include "foxhunt/kernels/isa/gemm.inl.h"
#include "foxhunt/kernels/isa/norm.inl.h"
#include "foxhunt/kernels/isa/ssd_chunk_backward.inl.h"
#include "foxhunt/kernels/isa/step_size.inl.h"
#include "foxhunt/kernels/isa/transpose.inl.h"
#include "foxhunt/kernels/kernel_table.h"

namespace foxhunt::kernels {
namespace {

template <class V>
void map_exp(int64_t n, const typename V::Elem* in, typename V::Elem* out) noexcept {
  over_lanes<V>(n, [&](int64_t i, int64_t lanes) {
    store_some<V>(exp(load_some<V>(in + i, lanes)), out + i, lanes);
  });
}
template <class V>
void map_softplus(int64_t n, const typename V::Elem* in, typename V::Elem* out) noexcept {
  over_lanes<V>(n, [&](int64_t i, int64_t lanes) {
    store_some<V>(softplus(load_some<V>(in + i, lanes)), out + i, lanes);
  });
}
template <class V>
void map_silu(int64_t n, const typename V::Elem* in, typename V::Elem* out) noexcept {
  over_lanes<V>(n, [&](int64_t i, int64_t lanes) {
    const V x = load_some<V>(in + i, lanes);
    store_some<V>(x * sigmoid(x), out + i, lanes);
  });
}
template <class V>
constexpr KernelTableOf<typename V::Elem> make_table(const char* name, bool (*runs)() noexcept) {
  return {name,
          runs,
          &map_exp<V>,
          &map_softplus<V>,
          &map_silu<V>,
          &transpose<V>,
          &gemm<V>,
          &conv_forward<V>,
          &silu_backward<V>,
          &conv_backward<V>,
          &step_size<V>,
          &gate_norm_forward<V>,
          &gate_norm_backward<V>,
          &ssd_chunk_forward<V>,
          &ssd_chunk_backward<V>,
          &adamw<V>,
          &sum_parts<V>};
}

}  // namespace
}  // namespace foxhunt::kernels
