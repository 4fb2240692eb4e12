#include "foxhunt/nn/ops/ssd_gpu.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/impl/VirtualGuardImpl.h>
#include <torch/csrc/autograd/custom_function.h>

#include <optional>
#include <type_traits>

#include "foxhunt/kernels/cuda/plan.h"
#include "foxhunt/kernels/cuda/trusted.h"
#include "foxhunt/nn/meta_as.h"

namespace foxhunt::nn {
namespace {

namespace gpu = kernels::cuda;
using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;
using Optional = std::optional<Tensor>;

/// LibTorch's current stream on the tensor's device, asked for without linking CUDA.
gpu::On place_of(const Tensor& t) {
  const c10::Stream stream = c10::impl::VirtualGuardImpl(at::kCUDA).getStream(t.device());
  return {t.device().index(), static_cast<CUstream_st*>(stream.native_handle())};
}

const gpu::Kernels& kernels_of(const Tensor& t) {
  const gpu::Kernels* kernels = gpu::trusted_kernels(t.device().index());
  TORCH_CHECK(kernels != nullptr, "no trusted kernels on ", t.device());
  return *kernels;
}

/// A row and a token may lie anywhere, channels side by side.
Tensor dense_rows(const Tensor& t) { return t.stride(-1) == 1 ? t : t.contiguous(); }

template <class In>
In* data(const Tensor& t) {
  // Bf16 has the bits of at::BFloat16; the untyped pointer serves both.
  return t.defined() ? static_cast<In*>(t.mutable_data_ptr()) : nullptr;
}
template <class T>
const T* view(const Tensor& t) {
  return t.defined() ? static_cast<const T*>(t.const_data_ptr()) : nullptr;
}

template <class Function>
auto by_type(const Tensor& xbc, const Function& function) {
  if (xbc.scalar_type() == at::kBFloat16) return function(gpu::Bf16{});
  return function(float{});
}

template <class In>
gpu::Inputs<In, float> inputs(const gpu::Shape& s, const Tensor& xbc, const Tensor& dt,
                              const Tensor& A, const Tensor& D, const Tensor& segments) {
  const In* x = view<In>(xbc);
  const In* B = x + s.heads * s.headdim;
  return {x,
          B,
          B + s.groups * s.d_state,
          xbc.stride(0),
          xbc.stride(1),
          view<float>(dt),
          dt.stride(0),
          dt.stride(1),
          view<float>(A),
          view<float>(D),
          view<std::int64_t>(segments)};
}

struct SsdOnGpu : torch::autograd::Function<SsdOnGpu> {
  static variable_list forward(AutogradContext* ctx, const Tensor& xbc_in, const Tensor& dt_in,
                               const Tensor& A_in, const Optional& D_in, const Tensor& state_in,
                               const Optional& segments_in, const SsdSizes& z) {
    const Tensor xbc = dense_rows(xbc_in);
    const Tensor dt = dense_rows(dt_in);
    const Tensor A = A_in.contiguous();
    const Tensor D = D_in.has_value() ? D_in->contiguous() : Tensor();
    const Tensor state = state_in.contiguous();
    const Tensor segments = segments_in.has_value() ? segments_in->contiguous() : Tensor();
    const gpu::Shape s{xbc.size(0), xbc.size(1), z.heads, z.headdim, z.groups, z.d_state};
    const std::int64_t chunks = gpu::chunk_count(s);
    const auto floats = state.options();
    const Tensor y = at::empty({s.batch, s.tokens, s.heads, s.headdim}, xbc.options());
    const Tensor enter = at::empty({s.batch, chunks, s.heads, s.headdim, s.d_state}, floats);
    const Tensor through = at::empty({s.batch, chunks, s.heads}, floats);
    const Tensor final_state = at::empty(state.sizes(), floats);
    if (!xbc.is_meta())
      by_type(xbc, [&]<class In>(In) {
        kernels_of(xbc).forward(
            gpu::ForwardArgs<In, float>{s, inputs<In>(s, xbc, dt, A, D, segments),
                                        view<float>(state), data<In>(y), data<float>(enter),
                                        data<float>(through), data<float>(final_state)},
            place_of(xbc));
      });
    ctx->save_for_backward({xbc, dt, A, D, segments, enter, through});
    ctx->saved_data["sizes"] = std::vector<std::int64_t>{z.heads, z.headdim, z.groups, z.d_state};
    return {y, final_state};
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto n = ctx->saved_data["sizes"].toIntVector();
    const Tensor &xbc = saved[0], &dt = saved[1], &A = saved[2], &D = saved[3];
    const Tensor &segments = saved[4], &enter = saved[5], &through = saved[6];
    const gpu::Shape s{xbc.size(0), xbc.size(1), n[0], n[1], n[2], n[3]};
    const Tensor dy = grads[0].defined()
                          ? grads[0].contiguous()
                          : at::zeros({s.batch, s.tokens, s.heads, s.headdim}, xbc.options());
    const Tensor dfinal = grads[1].defined() ? grads[1].contiguous() : Tensor();
    const auto floats = enter.options();
    const Tensor dxbc = at::empty(xbc.sizes(), xbc.options());
    const Tensor ddt = at::empty(dt.sizes(), floats);
    const Tensor dA = at::empty(A.sizes(), floats);
    const Tensor dD = D.defined() ? at::empty(D.sizes(), floats) : Tensor();
    const Tensor dstate = at::empty({s.batch, s.heads, s.headdim, s.d_state}, floats);
    const Tensor workspace = at::empty({gpu::backward_workspace(s).size}, floats);
    if (!xbc.is_meta())
      by_type(xbc, [&]<class In>(In) {
        In* dx = data<In>(dxbc);
        In* dB = dx + s.heads * s.headdim;
        kernels_of(xbc).backward(
            gpu::BackwardArgs<In, float>{
                s, inputs<In>(s, xbc, dt, A, D, segments), view<float>(enter), view<float>(through),
                view<In>(dy), view<float>(dfinal), dx, dB, dB + s.groups * s.d_state,
                dxbc.stride(0), dxbc.stride(1), data<float>(ddt), data<float>(dA), data<float>(dD),
                data<float>(dstate), data<float>(workspace)},
            place_of(xbc));
      });
    return {dxbc, ddt, dA, dD, dstate, Tensor(), Tensor()};
  }
};

}  // namespace

bool gpu_kernels_take(const Tensor& xbc, const Tensor& dt, const Tensor& state) {
  if (stands_for_cuda(xbc)) return xbc.scalar_type() == at::kFloat;
  if (!xbc.is_cuda() || !dt.is_cuda() || !state.is_cuda()) return false;
  if (xbc.scalar_type() != at::kFloat && xbc.scalar_type() != at::kBFloat16) return false;
  if (dt.scalar_type() != at::kFloat || state.scalar_type() != at::kFloat) return false;
  return gpu::trusted_kernels(xbc.device().index()) != nullptr;
}

SsdResult ssd_window_gpu(const SsdSizes& sizes, const Tensor& xbc, const Tensor& dt,
                         const Tensor& A, const Tensor& D, const Tensor& state,
                         const Tensor& segments) {
  const variable_list out =
      SsdOnGpu::apply(xbc, dt, A, D.defined() ? Optional(D) : std::nullopt, state,
                      segments.defined() ? Optional(segments) : std::nullopt, sizes);
  return {out[0], out[1]};
}

SsdResult ssd_step_gpu(const SsdSizes& z, const Tensor& xbc_in, const Tensor& dt_in,
                       const Tensor& A_in, const Tensor& D_in, const Tensor& state_in) {
  const bool gradients = at::GradMode::is_enabled() &&
                         (xbc_in.requires_grad() || dt_in.requires_grad() || A_in.requires_grad() ||
                          (D_in.defined() && D_in.requires_grad()) || state_in.requires_grad());
  if (gradients) {
    SsdResult r =
        ssd_window_gpu(z, xbc_in.unsqueeze(1), dt_in.unsqueeze(1), A_in, D_in, state_in, Tensor());
    return {r.y.squeeze(1), r.state};
  }
  const Tensor xbc = dense_rows(xbc_in);
  const Tensor dt = dense_rows(dt_in);
  const Tensor A = A_in.contiguous();
  const Tensor D = D_in.defined() ? D_in.contiguous() : D_in;
  const Tensor state = state_in.contiguous();
  const gpu::Shape s{xbc.size(0), 1, z.heads, z.headdim, z.groups, z.d_state};
  SsdResult r{at::empty({s.batch, s.heads, s.headdim}, xbc.options()),
              at::empty(state.sizes(), state.options())};
  by_type(xbc, [&]<class In>(In) {
    const In* x = view<In>(xbc);
    const In* B = x + s.heads * s.headdim;
    kernels_of(xbc).step(
        gpu::StepArgs<In, float>{s, x, B, B + s.groups * s.d_state, xbc.stride(0), view<float>(dt),
                                 dt.stride(0), view<float>(A), view<float>(D), view<float>(state),
                                 data<In>(r.y), data<float>(r.state)},
        place_of(xbc));
  });
  return r;
}

}  // namespace foxhunt::nn
