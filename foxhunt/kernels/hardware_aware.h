#pragma once
// What follows from this machine: chunk of the scan, lanes of a training batch, kernel table, and
// the size of model that still answers within a latency budget. Each with its reason in words.
//
// Pure functions of their arguments. Chunk, lanes and kernels decide in which order floats are
// added, so they follow from what the machine *is* (caches, cores, instruction sets), never from a
// measured rate, from the number of threads or from what else runs: a run can be repeated bit for
// bit.
// Measured rates enter the latency budget alone (latency_budget.h).

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/machine.h"
#include "foxhunt/kernels/hardware/bandwidth.h"

namespace foxhunt::kernels {

/// Zeros and empty values are unknown; each choice says what it takes instead.
struct Hardware {
  std::string vendor;
  std::int64_t family = 0;
  std::int64_t model = 0;
  std::int64_t l1d_bytes = 0;     ///< of one core
  std::int64_t l2_bytes = 0;      ///< one core's share
  std::int64_t l3_bytes = 0;      ///< the whole, shared by many
  std::int64_t cores = 0;         ///< logical CPUs of the machine
  std::int64_t usable_cores = 0;  ///< those this process may use
  std::vector<std::string> instruction_sets;
  Bandwidth bandwidth;  ///< as judged
  std::string doubts;   ///< about the bandwidth; empty: none

  bool has(std::string_view instruction_set) const;
};

Hardware read_hardware(const Machine& machine, const Bandwidth& measured);

/// Sizes of a model in elements: D d_model, H P d_inner, N d_state, G groups, W width of the
/// convolution; F features in, K numbers out.
struct ModelSizes {
  std::int64_t d_model = 0;
  std::int64_t n_layer = 0;
  std::int64_t heads = 0;
  std::int64_t headdim = 0;
  std::int64_t d_state = 0;
  std::int64_t groups = 1;
  std::int64_t d_conv = 4;
  std::int64_t features = 32;
  std::int64_t outputs = 3;

  std::int64_t d_inner() const { return heads * headdim; }
  std::int64_t channels() const { return d_inner() + 2 * groups * d_state; }
  std::int64_t proj_width() const { return d_inner() + channels() + heads; }

  friend bool operator==(const ModelSizes&, const ModelSizes&) = default;
};
/// Errors  ShapeError naming the size: below 1, so large that a count of bytes could leave 64 bits,
/// heads that groups do not divide.
void check_sizes(const ModelSizes& sizes);

/// D 64, L 4, P 32, N 16: the model that is to answer in microseconds.
ModelSizes default_hft_sizes();

template <class T>
struct Choice {
  T value{};
  std::string reason;
};

/// Bytes that one chunk of the scan touches, float32: decays and Gram matrices H Q^2 + G Q^2,
/// inputs and outputs Q (channels + 2 d_inner), state H P N.
std::int64_t chunk_bytes(const ModelSizes& sizes, std::int64_t chunk);

/// Q in {16, 32, 64, 128}: of those whose chunk fits half of L2 and whose matrix M of one head fits
/// half of L1d, the one with the least work a token,
///     (Q/2 (N G/H + P) + 4 N P) (1 + 8/Q),
/// the smaller of equals. 16 where none fits.
/// Errors  as check_sizes().
Choice<std::int64_t> choose_chunk(const Hardware& hardware, const ModelSizes& sizes);

/// Into how many fixed slices a batch of `batch` windows of `window` rows is split; slices differ
/// by at most one window. As many as the machine has cores, in multiples of 8 so that 2, 4 and 8
/// cores share them evenly; at least 8, at most 64, no more than keep 256 rows a lane or than 256
/// MiB of gradients pay for, and never more than windows. More lanes only add gradients to sum: a
/// lane's blocks go through the cache piece by piece whatever its size.
/// Of the machine the number of its cores enters, not how many of them a run may use.
/// Errors  as check_sizes(); ShapeError where batch or window is below 1.
Choice<std::int64_t> choose_lanes(const Hardware& hardware, const ModelSizes& sizes,
                                  std::int64_t batch, std::int64_t window);

/// Which of `runnable` to use: `forced` where given; else the widest of avx512, avx2, scalar, but
/// avx2 before avx512 on CPUs that lower their clock for 512-bit work; the first where none of
/// these is offered.
/// Errors  UsageError naming the choices: `forced` is not among them, or there are none.
Choice<std::string> choose_kernels(const Hardware& hardware,
                                   std::span<const std::string_view> runnable,
                                   std::string_view forced);

}  // namespace foxhunt::kernels
