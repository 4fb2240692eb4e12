#pragma once
// One stream: features, scaling, the model's state. All memory is taken at construction; from then
// on nothing allocates, locks or calls the system.
//
// A session belongs to one thread at a time; sessions of one plan are independent.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foxhunt/base/bytes.h"
#include "foxhunt/engine/plan.h"
#include "foxhunt/features/row_pipeline.h"
#include "foxhunt/market/record.h"

namespace foxhunt::engine {

enum class Status : std::uint8_t {
  kReady,       ///< `out` is written
  kWarmingUp,   ///< too little past in this sequence
  kClosed,      ///< outside of the sessions of the market: ignored
  kBadRecord,   ///< a record that cannot be used: ignored
  kOutOfOrder,  ///< not after the record before: ignored
  kBadInput,    ///< a NaN or infinite feature: ignored, the state is as it was
  kNoSample,    ///< an order event that changed the book, at which no answer is due
};
std::string_view to_string(Status status);

class Session {
 public:
  /// Touches all of its memory, so that the first event meets no page fault.
  explicit Session(std::shared_ptr<const Plan> plan);
  ~Session();
  Session(const Session& other);  ///< a second stream that goes on from the same state
  Session& operator=(const Session& other) = delete;
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// A record in, an answer out [K]: logits, value or quantiles, as the trained model gives them.
  /// Starts the state anew where the features start a sequence. The state is written back behind
  /// the answer: on_event() is answer() followed by advance().
  /// Errors  none: noexcept, statuses. `out` has n_outputs() elements.
  Status on_event(const market::Bar& bar, std::span<float> out) noexcept;
  Status on_event(const market::OrderEvent& event, std::span<float> out) noexcept;
  /// The answer only; advance() must follow before the next record, and is free to come after the
  /// answer was published.
  Status answer(const market::Bar& bar, std::span<float> out) noexcept;
  Status answer(const market::OrderEvent& event, std::span<float> out) noexcept;
  void advance() noexcept;

  /// One row of features [F] as the pipeline gives them, before scaling.
  Status step(std::span<const float> features, std::span<float> out) noexcept;

  /// As newly constructed.
  void reset() noexcept;

  /// Everything that the next answer depends on, versioned, with the model's id and form. Sessions
  /// that restore it go on with the same bits.
  std::vector<std::byte> save() const;
  /// Errors  FormatError: other model, version, damaged; the session is as it was.
  void restore(std::span<const std::byte> bytes, const std::string& origin = "state");
  /// The same of the part that comes next in `file`.
  void restore(ByteReader& file);

  std::int64_t position() const noexcept;  ///< rows answered since the sequence began
  const features::PushCounters& counters() const noexcept;
  /// Of the row that was answered last: when it could be known, and its price.
  const features::RowMoment& moment() const noexcept;
  const Plan& plan() const noexcept { return *plan_; }

 private:
  friend void step_many(std::span<Session* const>, std::span<const float>, std::span<float>,
                        std::span<Status>) noexcept;
  struct Impl;
  std::shared_ptr<const Plan> plan_;
  std::unique_ptr<Impl> impl_;
};

/// step() of several sessions of one plan at once, a row [F] and an answer [K] each: the weights
/// are read once for up to kernels::kMostStreams of them. The same bits as one by one.
void step_many(std::span<Session* const> sessions, std::span<const float> features,
               std::span<float> out, std::span<Status> statuses) noexcept;

}  // namespace foxhunt::engine
