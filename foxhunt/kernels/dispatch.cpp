#include "foxhunt/kernels/dispatch.h"

#include <fmt/format.h>

#include <cstdlib>

#include "foxhunt/base/error.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/kernels/hardware_aware.h"

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

std::vector<std::string_view> runnable_kernels() {
  std::vector<std::string_view> names;
  for (const KernelTable* table : built_kernels()) {
    if (table->runs_here()) names.emplace_back(table->name);
  }
  return names;
}

template <>
const KernelTableOf<float>& default_kernels() {
  static const KernelTable& table = []() -> const KernelTable& {
    const char* forced = std::getenv("FOXHUNT_FORCE_ISA");
    if (forced != nullptr && *forced != '\0') return pick_kernels(forced);
    const Hardware hardware = read_hardware(this_machine(), {});
    return pick_kernels(choose_kernels(hardware, runnable_kernels(), "").value);
  }();
  return table;
}

template <>
const KernelTableOf<double>& default_kernels() {
  return kFloat64Kernels;
}

}  // namespace foxhunt::kernels
