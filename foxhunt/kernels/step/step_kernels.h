#pragma once
// Which kernels a step runs with on this machine: one table for the core of a layer, one product
// kernel a weight type.

#include <span>
#include <string>
#include <string_view>

#include "foxhunt/kernels/step/layer_step.h"

namespace foxhunt::kernels {

/// "fp32", "fp16", "bf16", "int8".
std::string_view to_string(WeightType type);

/// Every table in this binary, widest first.
std::span<const StepKernels* const> built_step_kernels() noexcept;

/// The table of that name; "": of default_kernels(), so that FOXHUNT_FORCE_ISA holds here, too.
/// Errors  ConfigError naming the choices, when it is unknown or cannot run here.
const StepKernels& pick_step_kernels(std::string_view name = {});

/// Every product kernel of a type in this binary, fastest first. "Fastest" by measurement:
/// docs/benchmarks.md.
std::span<const ProductKernel* const> built_products(WeightType type) noexcept;

/// The first of them that runs here and asks for no more than `table`: what goes with "avx2" runs
/// on a CPU that has AVX2 alone.
const ProductKernel& product_for(const StepKernels& table, WeightType type);

}  // namespace foxhunt::kernels
