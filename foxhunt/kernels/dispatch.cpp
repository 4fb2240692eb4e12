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

namespace {

/// The table that the environment asks for; empty: none.
std::string_view forced_kernels() {
  const char* forced = std::getenv("FOXHUNT_FORCE_ISA");
  return forced == nullptr ? std::string_view() : forced;
}

}  // namespace

template <>
const KernelTableOf<float>& default_kernels() {
  static const KernelTable& table = []() -> const KernelTable& {
    if (const std::string_view forced = forced_kernels(); !forced.empty()) {
      return pick_kernels(forced);
    }
    const Hardware hardware = read_hardware(this_machine(), {});
    return pick_kernels(choose_kernels(hardware, runnable_kernels(), "").value);
  }();
  return table;
}

template <>
const KernelTableOf<double>& default_kernels() {
  return kFloat64Kernels;
}

std::span<const Bf16Kernels* const> built_bf16_kernels() noexcept {
  static constexpr const Bf16Kernels* kTables[] = {&kAvx512Bf16Kernels, &kAvx512WideBf16Kernels,
                                                   &kAvx2Bf16Kernels, &kScalarBf16Kernels};
  return kTables;
}

const Bf16Kernels& default_bf16_kernels() {
  static const Bf16Kernels& table = []() -> const Bf16Kernels& {
    const std::string_view name = default_kernels<float>().name;
    if (name == kAvx512WideBf16Kernels.name && forced_kernels().empty() &&
        kAvx512Bf16Kernels.runs_here()) {
      return kAvx512Bf16Kernels;
    }
    for (const Bf16Kernels* candidate : built_bf16_kernels()) {
      if (candidate->name == name) return *candidate;
    }
    return kScalarBf16Kernels;
  }();
  return table;
}

}  // namespace foxhunt::kernels
