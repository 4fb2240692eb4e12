#pragma once
// The kernels as a library of their own, opened at run time: programs need no CUDA to start.
//
// libfoxhunt_cuda.so lies beside the program and holds one C table. It links neither LibTorch nor a
// CUDA library (the runtime is inside it), so it opens on every machine, with or without a GPU.

#include <cstdint>
#include <filesystem>
#include <string>

#include "foxhunt/kernels/cuda/launch.h"

namespace foxhunt::kernels::cuda {

/// Rises with every change of the table or of a struct that it takes.
inline constexpr std::uint32_t kPluginVersion = 1;

/// Errors cross the border as text.
struct ErrorText {
  char text[1024];
};
/// Called for every line of a self-test.
using SelfTestSink = void (*)(void* context, const char* operation, double error, double bound);

/// What foxhunt_cuda_table() answers. Functions return 0, or 1 with a text.
struct PluginTable {
  std::uint32_t version;
  std::uint32_t bytes;  ///< sizes of the structs below, added: a second guard of the border
  int (*device_count)() noexcept;
  int (*device_name)(int device, ErrorText* name) noexcept;
  int (*forward_f32)(const ForwardArgs<float, float>*, On, ErrorText*) noexcept;
  int (*forward_bf16)(const ForwardArgs<Bf16, float>*, On, ErrorText*) noexcept;
  int (*backward_f32)(const BackwardArgs<float, float>*, On, ErrorText*) noexcept;
  int (*backward_bf16)(const BackwardArgs<Bf16, float>*, On, ErrorText*) noexcept;
  int (*step_f32)(const StepArgs<float, float>*, On, ErrorText*) noexcept;
  int (*step_bf16)(const StepArgs<Bf16, float>*, On, ErrorText*) noexcept;
  int (*self_test)(int device, SelfTestSink, void* context, ErrorText*) noexcept;
};
inline constexpr std::uint32_t kPluginBytes =
    sizeof(PluginTable) + sizeof(ForwardArgs<float, float>) + sizeof(BackwardArgs<float, float>) +
    sizeof(StepArgs<float, float>) + sizeof(On);

struct Plugin {
  const PluginTable* table = nullptr;  ///< null: not there
  std::string problem;                 ///< why not
};
/// Opens the library at `path`; never closed.
Plugin open_plugin(const std::filesystem::path& path);

/// The environment's FOXHUNT_CUDA_PLUGIN, else libfoxhunt_cuda.so beside the running program.
std::filesystem::path plugin_path();

}  // namespace foxhunt::kernels::cuda
