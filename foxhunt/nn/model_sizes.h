#pragma once
// A model's configuration as the sizes that follow-from-the-machine choices take. Torch-free.

#include "foxhunt/kernels/hardware_aware.h"
#include "foxhunt/model/mamba2_config.h"

namespace foxhunt::nn {

inline kernels::ModelSizes sizes_of(const model::Mamba2Config& config) {
  return {.d_model = config.d_model,
          .n_layer = config.n_layer,
          .heads = config.n_heads(),
          .headdim = config.headdim,
          .d_state = config.d_state,
          .groups = config.ngroups,
          .d_conv = config.d_conv};
}

}  // namespace foxhunt::nn
