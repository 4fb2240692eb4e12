#pragma once
// Which kernel tables this binary holds and which of them this CPU can run.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/kernels/gemm_bf16.h"
#include "foxhunt/kernels/kernel_table.h"

namespace foxhunt::kernels {

/// The float tables linked into this binary, in the order they are tried: by measurement, see
/// docs/benchmarks.md.
std::span<const KernelTable* const> built_kernels() noexcept;

/// The first table that runs on this CPU; with `forced`, the one of that name.
/// Errors  ConfigError naming the choices, when `forced` is unknown or cannot run here.
const KernelTable& pick_kernels(std::string_view forced = {});

/// Names of the float tables that run on this CPU, in the order they are tried.
std::vector<std::string_view> runnable_kernels();

/// The table that hardware_aware.h chooses for this machine among those that run on it, or the one
/// named in the environment variable FOXHUNT_FORCE_ISA; decided once. For double there is one.
template <class T>
const KernelTableOf<T>& default_kernels();
template <>
const KernelTableOf<float>& default_kernels();
template <>
const KernelTableOf<double>& default_kernels();

/// The bf16 products linked into this binary; all run by the side of a float table of their name,
/// but for "avx512bf16", which goes with "avx512".
std::span<const Bf16Kernels* const> built_bf16_kernels() noexcept;

/// What goes with default_kernels<float>(): its bf16 instructions where the CPU has them, unless
/// FOXHUNT_FORCE_ISA names a table. Decided once.
const Bf16Kernels& default_bf16_kernels();

}  // namespace foxhunt::kernels
