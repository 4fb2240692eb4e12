#include "foxhunt/kernels/dispatch.h"

#include <fmt/format.h>

#include <cstdlib>

#include "foxhunt/base/error.h"

namespace foxhunt::kernels {

std::span<const KernelTable* const> built_kernels() noexcept {
  static constexpr const KernelTable* kTables[] = {&kAvx512Kernels, &kAvx2Kernels, &kScalarKernels};
  return kTables;
}

const KernelTable& pick_kernels(std::string_view forced) {
  std::string choices;
  for (const KernelTable* table : built_kernels()) {
    if (!table->runs_here()) continue;
    if (forced.empty() || forced == table->name) return *table;
    choices += (choices.empty() ? "" : ", ") + std::string(table->name);
  }
  throw ConfigError(
      fmt::format("[kernels] FOXHUNT_FORCE_ISA = '{}' is unknown or cannot run on this CPU; choose "
                  "from: {}",
                  forced, choices));
}

template <>
const KernelTableOf<float>& default_kernels() {
  static const KernelTable& table = []() -> const KernelTable& {
    const char* forced = std::getenv("FOXHUNT_FORCE_ISA");
    return pick_kernels(forced == nullptr ? "" : forced);
  }();
  return table;
}

template <>
const KernelTableOf<double>& default_kernels() {
  return kFloat64Kernels;
}

}  // namespace foxhunt::kernels
