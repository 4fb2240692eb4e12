#pragma once
// The one feature pipeline: bars in, rows out, one at a time. Training and serving use this same object.
//
// A row at bar t is a function of bars up to t only, all of one session and one contract. A new session, a new
// contract or a long hole starts a new sequence: the pipeline warms up again and the model's state restarts at zero.

#include <cstdint>
#include <memory>
#include <span>

#include "foxhunt/features/feature_config.h"
#include "foxhunt/features/schema.h"
#include "foxhunt/market/calendar.h"
#include "foxhunt/market/contract.h"
#include "foxhunt/market/record.h"

namespace foxhunt::features {

enum class Status : std::uint8_t {
  kReady,      ///< the row is written
  kWarmingUp,  ///< too little past in this sequence
  kClosed,     ///< the bar lies outside every session: ignored
  kBadBar,     ///< null or non-positive price, or inconsistent OHLC: ignored and counted
  kOutOfOrder, ///< not after the bar before of the same contract: ignored and counted
};

struct PushResult {
  Status status = Status::kWarmingUp;
  bool starts_sequence = false;  ///< this bar is the first of a new sequence
};

class FeaturePipeline {
 public:
  FeaturePipeline(FeatureConfig config, market::Calendar calendar, market::Contract contract);
  ~FeaturePipeline();
  FeaturePipeline(FeaturePipeline&&) noexcept;
  FeaturePipeline& operator=(FeaturePipeline&&) noexcept;

  const Schema& schema() const;  ///< names, units, warm-up of each column
  std::int64_t width() const;    ///< F

  /// `row` [F] is written when the answer is kReady; raw values, not normalised.
  /// Cost    O(F), no allocation after construction.
  PushResult push(const market::Bar& bar, std::span<float> row);

  /// The session of the last accepted bar.
  const market::Session& session() const;
  void reset();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace foxhunt::features
