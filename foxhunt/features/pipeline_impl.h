#pragma once
// The inside of a FeaturePipeline: what it is made of, and what it remembers. Inside of the room
// only; pipeline.cpp pushes, pipeline_state.cpp saves and restores.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/features/pipeline.h"
#include "foxhunt/features/sliding_mean.h"
#include "foxhunt/features/user_columns.h"
#include "foxhunt/features/volatility.h"

namespace foxhunt::features {

/// Everything that the next push depends on, beside of what the pipeline is made of. A new member
/// belongs into pipeline_state.cpp, too, unless the rest gives it.
struct PipelineMemory {
  PipelineMemory(const FeatureConfig& config, Price tick, const UserColumns& columns);

  /// Warms up anew.
  void forget() noexcept;
  void reset() noexcept;
  void take(const market::Bar& bar) noexcept;
  /// The close of `ago` bars before the last one taken.
  Price close(std::int64_t ago) const noexcept {
    return closes[static_cast<std::size_t>(bars - 1 - ago) % closes.size()];
  }

  std::int64_t bars = 0;              ///< of the current sequence; 0 exactly when `last` is empty
  std::optional<market::Bar> last{};  ///< accepted
  market::Session session{};          ///< of `last`: what the calendar says of its start
  std::vector<Price> closes;          ///< ring: the close of bar i of the sequence is at i % size
  std::vector<RealisedVolatility> volatilities{};  ///< one for each volatility span
  SlidingMean log_volume;
  double volume_ratio = 0;  ///< of `last`; take() makes it anew
  PushCounters counters{};
  UserMemory user;
};

/// The counter of what makes a bar unusable, or nullptr.
using BarFault = std::int64_t PushCounters::*;

struct FeaturePipeline::Impl {
  Impl(FeatureConfig c, market::Calendar cal, market::Contract con);

  PushResult push(const market::Bar& bar, std::span<float> row) noexcept;

  BarFault fault_of(const market::Bar& bar) const noexcept;
  /// The session that holds all of a usable bar, clear of its halt.
  std::optional<market::Session> session_of(const market::Bar& bar) const noexcept;
  /// Counts a bar that begins before the last one has ended; true when it does not.
  bool is_in_order(const market::Bar& bar) noexcept;
  /// Counts why `bar` starts a sequence; false when it does not.
  bool starts_sequence(const market::Bar& bar, const market::Session& found) noexcept;
  /// Foxhunt's own columns in the order of make_schema().
  void write(const market::Bar& bar, std::span<float> row) noexcept;
  /// Counts each of the user's values that is not finite; true when all are.
  bool users_are_finite() noexcept;
  /// What two pipelines must agree on to share a state, a line a setting.
  std::string identity() const;
  /// The last bar and what is remembered of its sequence, into a memory without bars whose counters
  /// are read. Errors  FormatError.
  void read_sequence(ByteReader& from, PipelineMemory& into) const;

  FeatureConfig config;
  market::Calendar calendar;
  market::Contract contract;
  UserColumns user;
  Schema schema;
  std::int64_t warm_up;
  PipelineMemory memory;
  std::vector<double> sigmas;      ///< values of the volatilities, scratch of write()
  std::vector<float> user_values;  ///< of the last bar
};

}  // namespace foxhunt::features
