#pragma once
// The same rows through two back ends, and how far they lie apart. Torch-free.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/model/head_config.h"
#include "foxhunt/model/mamba2_config.h"
#include "foxhunt/nn/backend.h"
#include "foxhunt/nn/device.h"

namespace foxhunt::nn {

/// Differences by power of ten, relative to the largest value of a tensor. First and last bin:
/// exact, and 1e-2 or more (not a number included); between them below 1e-8, 1e-7, .. 1e-2.
inline constexpr std::array<const char*, 9> kErrorBins{"exact", "<1e-8", "<1e-7", "<1e-6", "<1e-5",
                                                       "<1e-4", "<1e-3", "<1e-2", "more"};

struct TensorCheck {
  std::string name;  ///< "output", "layer 0 state", "gradient backbone.layers.0.mixer.A_log"
  std::int64_t values = 0;
  double largest = 0.0;         ///< |a|
  double largest_error = 0.0;   ///< |a - b|
  double relative_error = 0.0;  ///< of these two; infinite where a or b is not finite
  std::array<std::int64_t, kErrorBins.size()> histogram{};
};

struct CheckOptions {
  Kernels a = Kernels::kAten;
  Kernels b = Kernels::kNative;
  DeviceSpec device;
  std::int64_t batch = 8;
  std::int64_t tokens = 96;
  std::uint64_t seed = 1;
  bool segments = true;  ///< rows with boundaries inside, so that restarts are compared, too
};

struct BackendCheck {
  std::vector<TensorCheck> tensors;
  double relative_error() const;  ///< the worst
};

/// A model drawn from `seed`, `batch` windows of random rows: answers, states behind the window,
/// the same rows token by token, and the gradients of a random projection of answers and states, by
/// a and by b. Errors  DeviceError: no such device, or a back end that is not there for it. It is
/// never replaced silently.
BackendCheck check_backends(const model::Mamba2Config& config, const model::HeadConfig& head,
                            const CheckOptions& options);

}  // namespace foxhunt::nn
