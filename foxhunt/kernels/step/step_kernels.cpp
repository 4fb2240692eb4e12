#include "foxhunt/kernels/step/step_kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "foxhunt/base/error.h"
#include "foxhunt/kernels/dispatch.h"
#include "foxhunt/kernels/step/product_list.h"

namespace foxhunt::kernels {

std::string_view to_string(WeightType type) {
  switch (type) {
    case WeightType::kF32:
      return "fp32";
    case WeightType::kF16:
      return "fp16";
    case WeightType::kBF16:
      return "bf16";
    case WeightType::kI8:
      return "int8";
  }
  return "";
}

std::span<const StepKernels* const> built_step_kernels() noexcept {
  static constexpr const StepKernels* kTables[] = {&kAvx512Step, &kAvx2Step, &kScalarStep};
  return kTables;
}

const StepKernels& pick_step_kernels(std::string_view name) {
  const std::string_view wanted = name.empty() ? default_kernels<float>().name : name;
  std::string choices;
  for (const StepKernels* table : built_step_kernels()) {
    if (!table->runs_here()) continue;
    if (wanted == table->name) return *table;
    choices += (choices.empty() ? "" : ", ") + std::string(table->name);
  }
  throw ConfigError(
      fmt::format("[step] kernels '{}' are unknown or cannot run on this CPU; choose from: {}",
                  wanted, choices));
}

std::span<const ProductKernel* const> built_products(WeightType type) noexcept {
  static constexpr const ProductKernel* kF32[] = {&kAvx512Step.product, &kAvx2Step.product,
                                                  &kScalarStep.product};
  static constexpr const ProductKernel* kF16[] = {&kAvx512Fp16, &kAvx2F16, &kScalarF16};
  static constexpr const ProductKernel* kBF16[] = {&kAvx512Bf16, &kAvx2Bf16, &kScalarBf16};
  static constexpr const ProductKernel* kI8[] = {&kAvx512Vnni, &kAvx2I8, &kScalarI8};
  switch (type) {
    case WeightType::kF32:
      return kF32;
    case WeightType::kF16:
      return kF16;
    case WeightType::kBF16:
      return kBF16;
    case WeightType::kI8:
      return kI8;
  }
  return {};
}

const ProductKernel& product_for(const StepKernels& table, WeightType type) {
  // Tables lie widest first: whatever stands in front of `table` asks for more than it does.
  const auto rank = [](std::string_view name) {
    const auto tables = built_step_kernels();
    return std::ranges::find(tables, name,
                             [](const StepKernels* t) { return std::string_view(t->name); }) -
           tables.begin();
  };
  for (const ProductKernel* kernel : built_products(type)) {
    if (kernel->runs_here() && rank(kernel->table) >= rank(table.name)) return *kernel;
  }
  return *built_products(type).back();  // scalar runs everywhere
}

}  // namespace foxhunt::kernels
