#pragma once
// What a training run will take, part by part, from its configuration. Torch-free.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/train/experiment.h"
#include "foxhunt/train/memory/step_weight.h"

namespace foxhunt::train {

/// What is known about the rows: counted, or assumed.
struct DataFacts {
  std::int64_t rows = 0;     ///< of all parts
  std::int64_t longest = 0;  ///< rows of the longest sequence
  std::string source;        ///< for people: "counted in …", "assumed …"
};

/// Rows and sequences of the configuration's files where all can be read, each of at most
/// `most_bytes`; else `rows` (0: 100,000) in sequences of one session of minutes.
DataFacts data_facts(const ExperimentConfig& config, std::int64_t rows, std::int64_t most_bytes);

/// How a step is cut on this machine.
struct StepPlan {
  std::int64_t lanes = 1;
  std::int64_t threads = 1;  ///< lanes that run at once
  std::int64_t slice = 1;    ///< windows of the largest lane
  std::int64_t micro = 1;    ///< windows that a lane holds at once
  std::int64_t tokens = 1;   ///< rows of a window
  std::string text() const;
};
/// Lanes only where there are replicas: native kernels on the CPU. `cores` serves threads = 0.
StepPlan step_plan(const ExperimentConfig& config, const DataFacts& data, bool cuda,
                   std::int64_t cores);

struct MemoryPart {
  std::string name;
  std::int64_t bytes = 0;
  std::string note;
};
/// One phase of a run. `allocator` is what tensors take of it, `total` everything: on the CPU what
/// the system shows as resident, on a GPU what the process holds there.
struct MemoryPhase {
  std::string name;
  std::int64_t allocator = 0;
  std::int64_t total = 0;
};

struct MemoryEstimate {
  std::string device;  ///< "cpu", "cuda"
  StepPlan plan;
  DataFacts data;
  std::int64_t parameters = 0;
  std::vector<MemoryPart> parts;
  std::int64_t layers = 0;
  std::int64_t kept_a_layer = 0;  ///< of `parts`' activations, a layer and lane
  std::vector<MemoryPhase> phases;

  /// The phase that needs most. There is always one.
  const MemoryPhase& fullest() const;
  std::int64_t allocator_peak() const;
};

/// Measured, in bytes: what the program with LibTorch takes before any model.
struct LibraryOverhead {
  std::int64_t cpu = 0;             ///< resident
  std::int64_t a_thread = 0;        ///< for each thread beside the first
  std::int64_t cuda = 0;            ///< context and libraries on the device
  std::int64_t cuda_workspace = 0;  ///< of cuBLAS, from the allocator of tensors
};
LibraryOverhead library_overhead();

/// What a run takes on the CPU that no allocator of tensors sees: the kernels' scratch, batches.
std::int64_t bytes_beside_tensors(const ExperimentConfig& config, const StepPlan& plan,
                                  const DataFacts& data, std::int64_t features);

/// Puts the parts together; `weight` is of weigh_step() for this plan.
MemoryEstimate compose_estimate(const ExperimentConfig& config, const StepPlan& plan,
                                const DataFacts& data, std::int64_t features, bool cuda,
                                const StepWeight& weight, const LibraryOverhead& overhead);

/// weigh_step() and compose_estimate() for one configuration; chunk and lanes of 0 are chosen as
/// `foxhunt train` chooses them. `features` 0: as the pipeline has them.
/// Errors  ConfigError with everything that is wrong.
MemoryEstimate estimate_memory(const ExperimentConfig& config, std::int64_t features,
                               const DataFacts& data, bool cuda);

std::string to_text(const MemoryEstimate& estimate);
std::string to_json(const MemoryEstimate& estimate);

}  // namespace foxhunt::train
