// The face of libfoxhunt_cuda.so: the launchers and the self-test behind a C table.
#include <cstdio>
#include <exception>

#include "foxhunt/kernels/cuda/device_memory.h"
#include "foxhunt/kernels/cuda/plugin.h"
#include "foxhunt/kernels/cuda/self_test.h"

namespace foxhunt::kernels::cuda {
namespace {

template <class Function>
int guarded(ErrorText* error, const Function& function) noexcept {
  try {
    function();
    return 0;
  } catch (const std::exception& failure) {
    std::snprintf(error->text, sizeof error->text, "%s", failure.what());
    return 1;
  }
}

template <class In>
int forward(const ForwardArgs<In, float>* args, On where, ErrorText* error) noexcept {
  return guarded(error, [&] { launch_forward(*args, where); });
}
template <class In>
int backward(const BackwardArgs<In, float>* args, On where, ErrorText* error) noexcept {
  return guarded(error, [&] { launch_backward(*args, where); });
}
template <class In>
int step(const StepArgs<In, float>* args, On where, ErrorText* error) noexcept {
  return guarded(error, [&] { launch_step(*args, where); });
}

int name_of(int device, ErrorText* name) noexcept {
  return guarded(name, [&] {
    std::snprintf(name->text, sizeof name->text, "%s", device_name(device).c_str());
  });
}

int test(int device, SelfTestSink sink, void* context, ErrorText* error) noexcept {
  return guarded(error, [&] {
    for (const SelfTestLine& line : self_test(device).lines)
      sink(context, line.operation.c_str(), line.error, line.bound);
  });
}

constexpr PluginTable kTable{kPluginVersion,
                             kPluginBytes,
                             device_count,
                             name_of,
                             forward<float>,
                             forward<Bf16>,
                             backward<float>,
                             backward<Bf16>,
                             step<float>,
                             step<Bf16>,
                             test};

}  // namespace
}  // namespace foxhunt::kernels::cuda

extern "C" __attribute__((visibility("default"))) const foxhunt::kernels::cuda::PluginTable*
foxhunt_cuda_table() {
  return &foxhunt::kernels::cuda::kTable;
}
