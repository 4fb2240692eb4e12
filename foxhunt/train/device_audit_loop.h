#pragma once
// The audit of one sequence model's training, whatever the model. With Torch: for tests and
// device_audit.cpp.

#include <functional>

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
  NamedParameters state{};  ///< what the model carries from row to row
};

/// Runs the window trainer under the observer to its end, or to the first exception, which becomes
/// a stray. Errors  ConfigError as the trainer's.
DeviceAudit audit_loop(const AuditedLoop& loop);

}  // namespace foxhunt::train
