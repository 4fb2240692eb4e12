#pragma once
// Door: where every tensor of a training lies, and what crosses between devices. Torch-free.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "foxhunt/train/experiment.h"

namespace foxhunt::train {

struct AuditedTensor {
  std::string part;  ///< "model", "gradient", "optimiser", "state", "loop"
  std::string name;  ///< "backbone.layers.3.mixer.dt_bias"
  std::vector<std::int64_t> shape{};
  std::string dtype{};   ///< "float32"
  std::string device{};  ///< "meta", "cpu", "cuda:0"
  std::int64_t bytes = 0;
  bool stray = false;  ///< lies elsewhere than the model
};

struct AuditedCrossing {
  std::string what;  ///< as declared where it happens, "the batch to the device"; "" hidden
  std::string operation;
  std::string from, to;
  std::int64_t count = 0;
  std::int64_t bytes = 0;
};

/// What breaks or stalls a training on a GPU: by whom, and how.
struct Stray {
  std::string owner;  ///< a tensor by its path; where it has none, the operation and argument
  std::string text;
};

/// Of one program.
struct DeviceAudit {
  std::string program;  ///< "mamba2", "gru baseline"
  std::string device;
  std::string note{};           ///< what this device cannot show; "" nothing
  std::int64_t steps = 0;       ///< optimiser steps that were watched
  std::int64_t operations = 0;  ///< LibTorch operations that were watched
  std::vector<std::pair<std::string, std::int64_t>> operands{};  ///< inputs seen, by device
  std::vector<AuditedTensor> tensors{};
  std::vector<AuditedCrossing> crossings{};
  std::vector<Stray> strays{};

  bool passed() const { return strays.empty() && operations > 0; }
};

struct DeviceAuditOptions {
  std::string device = "meta";  ///< "meta", or one that nn/device.h knows
  bool baseline = true;         ///< the GRU of the evaluation, too
};

/// Trains the experiment's model for two steps and a validation pass on made-up rows of its shape,
/// under the observer (nn/meta_audit.h). On the meta device nothing is computed: it takes a second
/// and no GPU, and finds what would fail or stall on one.
/// Errors  ConfigError, DeviceError; strays are no error but part of the answer.
std::vector<DeviceAudit> audit_devices(ExperimentConfig config, const DeviceAuditOptions& options);

/// Tables for people: one line a tensor with `all`, else one a part.
std::string to_text(const std::vector<DeviceAudit>& audits, bool all);
std::string to_json(const std::vector<DeviceAudit>& audits);

}  // namespace foxhunt::train
