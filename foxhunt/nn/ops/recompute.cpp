#include "foxhunt/nn/ops/recompute.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/grad_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>

#include <memory>
#include <utility>

namespace foxhunt::nn {
namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// What saved_data cannot hold: the function, and the autocast it ran under.
struct Again final : torch::CustomClassHolder {
  std::function<Tensor(const Tensor&)> f;
  at::DeviceType device{};
  bool autocast = false;
  at::ScalarType autocast_dtype{};
};

/// Autocast as it was in the forward pass, for the length of a scope.
class AutocastAs {
 public:
  explicit AutocastAs(const Again& again)
      : device_(again.device),
        before_(at::autocast::is_autocast_enabled(device_)),
        dtype_before_(at::autocast::get_autocast_dtype(device_)) {
    at::autocast::set_autocast_dtype(device_, again.autocast_dtype);
    at::autocast::set_autocast_enabled(device_, again.autocast);
    at::autocast::increment_nesting();
  }
  ~AutocastAs() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(device_, before_);
    at::autocast::set_autocast_dtype(device_, dtype_before_);
  }
  AutocastAs(const AutocastAs&) = delete;
  AutocastAs& operator=(const AutocastAs&) = delete;

 private:
  at::DeviceType device_;
  bool before_;
  at::ScalarType dtype_before_;
};

struct Recomputed : torch::autograd::Function<Recomputed> {
  static Tensor forward(AutogradContext* ctx, const Tensor& x, at::TensorList parameters,
                        const c10::intrusive_ptr<Again>& again) {
    variable_list saved{x};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["again"] = c10::IValue::make_capsule(again);
    return again->f(x);  // a Function's forward runs without a graph
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const variable_list saved = ctx->get_saved_variables();
    const auto again =
        c10::static_intrusive_pointer_cast<Again>(ctx->saved_data["again"].toCapsule());
    const at::AutoGradMode with_graph(true);
    Tensor x = saved[0].detach();
    x.set_requires_grad(true);
    variable_list inputs{x};
    for (std::size_t i = 1; i < saved.size(); ++i) inputs.push_back(saved[i]);
    Tensor out;
    {
      const AutocastAs as_before(*again);
      out = again->f(x);
    }
    variable_list gradients =
        torch::autograd::grad({out}, inputs, {grads[0]}, /*retain_graph=*/false,
                              /*create_graph=*/false, /*allow_unused=*/true);
    gradients.emplace_back();  // of `again`
    return gradients;
  }
};

}  // namespace

Tensor recomputed(const Tensor& x, const std::vector<Tensor>& parameters,
                  std::function<Tensor(const Tensor&)> f) {
  if (!at::GradMode::is_enabled()) return f(x);
  auto again = c10::make_intrusive<Again>();
  again->f = std::move(f);
  again->device = x.is_meta() ? at::kCPU : x.device().type();  // meta has no autocast of its own
  again->autocast = at::autocast::is_autocast_enabled(again->device);
  again->autocast_dtype = at::autocast::get_autocast_dtype(again->device);
  return Recomputed::apply(x, at::TensorList(parameters), again);
}

}  // namespace foxhunt::nn
