#include "foxhunt/kernels/cuda/plugin.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <system_error>

namespace foxhunt::kernels::cuda {

std::filesystem::path plugin_path() {
  if (const char* named = std::getenv("FOXHUNT_CUDA_PLUGIN"); named != nullptr && *named != '\0')
    return named;
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() /
         "libfoxhunt_cuda.so";
}

Plugin open_plugin(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored))
    return {nullptr, fmt::format("{} is not there: foxhunt was built without nvcc", path.string())};
  void* library = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = ::dlerror();
    return {nullptr, reason != nullptr ? reason : path.string() + " cannot be opened"};
  }
  const auto table_of =
      reinterpret_cast<const PluginTable* (*)()>(::dlsym(library, "foxhunt_cuda_table"));
  if (table_of == nullptr)
    return {nullptr, fmt::format("{} has no foxhunt_cuda_table", path.string())};
  const PluginTable* table = table_of();
  if (table->version != kPluginVersion || table->bytes != kPluginBytes) {
    return {nullptr,
            fmt::format("{} is version {} ({} bytes), this program needs {} ({})", path.string(),
                        table->version, table->bytes, kPluginVersion, kPluginBytes)};
  }
  return {table, ""};
}

}  // namespace foxhunt::kernels::cuda
