#pragma once
// The latency contract of a bundle on a machine: what was found, what was broken, as text and JSON.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/bundle/weight_form.h"
#include "foxhunt/contract/load_times.h"
#include "foxhunt/contract/replay.h"
#include "foxhunt/contract/step_bytes.h"
#include "foxhunt/latency/latency_row.h"

namespace foxhunt::contract {

/// One figure: latency/latency_row.h, and what was timed.
struct ContractRow {
  latency::LatencyRow row;
  Timed timed = Timed::kStep;
  std::int64_t sessions = 1;  ///< that took turns; above 1 `row.schedule` is "round_robin_N"
  bool keep_warm = false;     ///< weights were read while waiting
  std::int64_t unanswered = 0;

  /// What must be zero and is not, one sentence each: allocations, system calls, page faults,
  /// timed calls without an answer. A count that was not made breaks nothing.
  std::vector<std::string> broken() const;
};

/// One form of the weights under one kernel table.
struct FormReport {
  bundle::WeightForm form = bundle::WeightForm::kF32;
  std::string kernels;
  StepBytes bytes{};
  bool own_form = false;      ///< the bundle's: the one that its certificate speaks of
  bool verified = false;      ///< the golden rows were answered within the bound of this form
  double max_difference = 0;  ///< over them, relative
  std::string verify_what;    ///< what was wrong; "" where nothing
  LoadSummary loads{};        ///< loads = 0: not measured
  std::vector<ContractRow> rows;
};

/// A form that cannot be served here.
struct Refusal {
  std::string weights, kernels, why;
};

struct Report {
  std::string model;     ///< name of the file or the preset
  std::string id;        ///< of the bundle's file; "" of a preset
  std::string model_id;  ///< engine::Plan::model_id()
  std::string cpu;
  std::string measured_at;                     ///< UTC
  std::string revision;                        ///< of the program
  double load_before = 0.0, load_after = 0.0;  ///< runnable tasks of the machine, over a minute
  std::vector<std::string> grants;  ///< core and priority that were asked for, and what came of it
  std::vector<FormReport> forms;
  std::vector<Refusal> refused;

  /// Each broken row's sentences, with its name in front.
  std::vector<std::string> broken() const;
  bool kept() const { return broken().empty(); }
};

/// {"model", …, "ok", "broken", "loads": […], "refused": […], "rows": […]}. A row has the keys of
/// latency::to_json(row) and timed, sessions, keep_warm, bytes_read, bytes_written, unanswered,
/// verified, max_difference. One line where `indent` < 0.
std::string to_json(const Report& report, int indent = 2);

/// A line a row, at most 120 characters wide but for names; then loads, refusals, what was broken.
std::string to_text(const Report& report);

}  // namespace foxhunt::contract
