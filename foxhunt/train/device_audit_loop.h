#pragma once
// The audit of one sequence model's training, whatever the model. With Torch: for tests and
// device_audit.cpp.

#include <functional>

#include "foxhunt/nn/mamba2.h"
#include "foxhunt/train/device_audit.h"
#include "foxhunt/train/window_trainer.h"

namespace foxhunt::train {

/// Every tensor of `tensors`, those outside of `home` marked. A CPU tensor without dimensions is
/// legal beside any device: it is listed, and no stray.
std::vector<AuditedTensor> list_tensors(const std::string& part, const NamedParameters& tensors,
                                        at::Device home);

struct AuditedLoop {
  SequenceModel& model;
  const TrainingData& data;
  TrainConfig config;  ///< epochs as many as are to be watched
  std::string program;
  NamedParameters state{};    ///< what the model carries from row to row
  NamedParameters members{};  ///< tensors that modules compute with; those that are no parameter
                              ///< of that name are listed with the model
};

/// Runs the window trainer under the observer to its end, or to the first exception, which becomes
/// a stray. Errors  ConfigError as the trainer's.
DeviceAudit audit_loop(const AuditedLoop& loop);

/// audit_loop() of a Mamba-2, with its state and the tensors its layers compute with.
DeviceAudit audit_mamba2(nn::Mamba2SSM& model, const TrainingData& data, const TrainConfig& config);

}  // namespace foxhunt::train
