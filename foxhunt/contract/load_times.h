#pragma once
// What a process pays before and at its first answer: reading and checking the file, packing the
// weights, taking a session's memory; then the first step beside the steady ones.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "foxhunt/engine/plan.h"

namespace foxhunt::contract {

/// One load, in a process of its own.
struct LoadTimes {
  double read_ms = 0.0;     ///< read_bundle(): bytes, digest, every rule
  double pack_ms = 0.0;     ///< Plan::build()
  double session_ms = 0.0;  ///< construction of a Session
  double first_us = 0.0;    ///< its first step
  double steady_us = 0.0;   ///< median of the steps that follow, the same rows in turn

  double load_ms() const { return read_ms + pack_ms + session_ms; }
  double first_ratio() const { return steady_us > 0.0 ? first_us / steady_us : 0.0; }
};

/// Median of each part and of the ratio, over loads.
struct LoadSummary {
  std::int64_t loads = 0;
  LoadTimes median{};
  double load_ms = 0.0;
  double least_load_ms = 0.0;
  double first_ratio = 0.0;
  double worst_first_ratio = 0.0;
};

using ReadBundle = std::function<bundle::Bundle()>;

/// Forks once a load, so that each finds code that it has not run and memory that it has not
/// touched: the file lies in the page cache, as it does behind a copy. `features` [rows, F].
/// Errors  those of reading and building, as Error naming the load; UsageError: loads < 1 or no
/// row; IoError: fork failed or the child ended without an answer.
std::vector<LoadTimes> time_loads(const ReadBundle& read, const engine::PlanOptions& options,
                                  std::span<const float> features, std::int64_t loads);

/// Errors  UsageError: no load.
LoadSummary summary_of(std::span<const LoadTimes> loads);

}  // namespace foxhunt::contract
