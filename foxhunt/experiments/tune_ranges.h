#pragma once
// What tuning tries: a range a key, and the values that a trial draws from them.

#include <cstdint>
#include <string>
#include <vector>

#include "foxhunt/train/experiment.h"

namespace foxhunt::experiments {

enum class RangeKind { kUniform, kLog, kInteger, kLogInteger, kChoice };

/// "train.schedule.lr = log(1e-5, 1e-2)"
struct Range {
  std::string key{};
  RangeKind kind = RangeKind::kUniform;
  double lo = 0;  ///< both ends may be drawn
  double hi = 0;
  std::vector<std::string> choices{};  ///< in TOML syntax

  bool is_log() const { return kind == RangeKind::kLog || kind == RangeKind::kLogInteger; }
};

/// Errors  ConfigError quoting the text and naming the rule.
Range parse_range(const std::string& text);

/// All ranges of the configuration, checked against its fields: each key is there, once, and every
/// end and choice is a value that it may have. Keys by which validation losses would no longer be
/// comparable (data, label, split, head, class weights) are refused.
/// Errors  ConfigError with everything that is wrong, one a line; `files` are searched for the line
///         of each range.
std::vector<Range> checked_ranges(const train::ExperimentConfig& config,
                                  const std::vector<std::string>& files = {});

/// The values of trial `index` (from 0), one a range, in TOML syntax. Each depends on the seed, the
/// index and its own range alone: another range, another number of trials or processes moves none.
/// Four significant digits.
std::vector<std::string> draw(const std::vector<Range>& ranges, std::int64_t seed,
                              std::int64_t index);

/// The configuration of a trial, as a single run. Errors  ConfigError.
train::ExperimentConfig with_values(const train::ExperimentConfig& config,
                                    const std::vector<Range>& ranges,
                                    const std::vector<std::string>& values);

}  // namespace foxhunt::experiments
