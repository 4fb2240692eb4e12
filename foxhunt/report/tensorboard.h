#pragma once
// The curves of a run for TensorBoard: RUN/tb/events.out.tfevents.*, one file.
//
// The file follows from metrics.jsonl and the start in env.json alone. While the run trains it
// grows; where metrics.jsonl was cut back (a resumed run) it is replaced by one with a later name,
// so that a TensorBoard that is looking sees a restart and not a torn file.

#include <filesystem>
#include <string>

#include "foxhunt/report/metrics_log.h"

namespace foxhunt::report {

/// All records. An epoch's scalars stand at its last step, `start` (seconds since 1970) plus the
/// seconds of the epochs up to it. What is not finite is left out.
std::string events_of(const MetricsLog& log, double start);

/// Brings the events of a run up to its metrics. Errors  IoError. Cost  reads metrics.jsonl.
void update_events(const std::filesystem::path& run);

}  // namespace foxhunt::report
