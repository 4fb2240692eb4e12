#include "foxhunt/train/machine_choice.h"

#include "foxhunt/base/log.h"
#include "foxhunt/base/machine.h"
#include "foxhunt/kernels/hardware_aware.h"
#include "foxhunt/nn/model_sizes.h"

namespace foxhunt::train {

void choose_for_machine(ExperimentConfig& config, const nn::DeviceSpec& device) {
  TrainConfig& train = config.hyper.train;
  if (device.kind != nn::DeviceKind::kCpu || train.kernels != nn::Kernels::kNative) return;
  const model::Mamba2Config& m = config.hyper.model;
  const kernels::ModelSizes sizes = nn::sizes_of(m);
  const kernels::Hardware hardware = kernels::read_hardware(this_machine(), {});
  if (m.chunk_size == 0) {
    const auto chunk = kernels::choose_chunk(hardware, sizes);
    config.hyper.model.chunk_size = chunk.value;
    log::debug("chunk {}: {}", chunk.value, chunk.reason);
  }
  if (train.lanes == 0) {
    const auto lanes =
        kernels::choose_lanes(hardware, sizes, train.batch_size, config.windows.length);
    train.lanes = lanes.value;
    log::debug("lanes {}: {}", lanes.value, lanes.reason);
  }
}

}  // namespace foxhunt::train
