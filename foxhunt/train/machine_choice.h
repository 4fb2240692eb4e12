#pragma once
// What a configuration leaves to the machine: chunk of the scan and lanes of a batch. Torch-free.

#include "foxhunt/nn/device.h"
#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

/// Replaces model.chunk_size = 0 and train.lanes = 0 by what hardware_aware.h chooses, where native
/// kernels on the CPU compute; elsewhere nothing changes. Written into the resolved configuration,
/// so that a run can be repeated on another machine.
void choose_for_machine(ExperimentConfig& config, const nn::DeviceSpec& device);

}  // namespace foxhunt::train
