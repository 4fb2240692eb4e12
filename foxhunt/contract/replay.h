#pragma once
// What is timed: a plan's sessions answering real records, so arranged that between two readings of
// the clock lies one answer and nothing else.
//
// Records without an answer (warm-up, closed market, bad ones) are pushed outside of the timed
// region, in their place and order. Behind the last record the session starts anew with the first.
// With many sessions they take turns, a record each, so that each finds its memory as cold as the
// others left it.

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "foxhunt/engine/session.h"
#include "foxhunt/latency/work.h"

namespace foxhunt::contract {

enum class Timed : std::uint8_t {
  kStep,    ///< Session::step(): features in, answer out, state written
  kEvent,   ///< Session::on_event(): record in, answer out, state written
  kAnswer,  ///< Session::answer(): record in, answer out; the state is written behind it, untimed
};
/// "step", "event", "answer".
std::string_view to_string(Timed timed);
/// Errors  UsageError naming the choices.
Timed timed_of(std::string_view name);

/// Records, which of them are answered, and the rows of features of those.
struct Rows {
  std::vector<market::Bar> bars;           ///< either these
  std::vector<market::OrderEvent> events;  ///< or these
  std::vector<std::int64_t> answered;      ///< indices of records, ascending, at least one
  std::vector<float> features;             ///< [answered, F] before scaling
  std::int64_t n_features = 0;             ///< F

  engine::Status on_event(engine::Session& session, std::int64_t record,
                          std::span<float> out) const noexcept;
  engine::Status answer(engine::Session& session, std::int64_t record,
                        std::span<float> out) const noexcept;
};
/// Of a bundle's golden records, by what the plan's engine answers to them.
/// Errors  DataError: not one of them is answered.
Rows rows_of(const std::shared_ptr<const engine::Plan>& plan);

/// The context of one EventWork. Takes all memory at construction.
class Replay {
 public:
  /// `rows` outlives the replay. Errors  UsageError: sessions < 1.
  Replay(const std::shared_ptr<const engine::Plan>& plan, const Rows& rows, Timed timed,
         std::int64_t sessions = 1);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// Ready for event 0. Its context is this.
  latency::EventWork work();
  /// One event after the other with what goes before each: for counts that know no events.
  latency::Work in_turn();

  /// Calls of the timed function that gave no answer: 0, or what was timed is not what was meant.
  std::int64_t unanswered() const { return unanswered_; }
  std::int64_t answers() const { return answers_; }

 private:
  void prepare(std::int64_t event) noexcept;
  void run() noexcept;
  std::int64_t events() const;

  const Rows* rows_;
  Timed timed_;
  std::vector<engine::Session> sessions_;
  std::vector<float> out_;
  // Of the event that comes: found outside of the timed region.
  engine::Session* session_ = nullptr;
  std::int64_t record_ = 0;
  std::span<const float> row_;
  engine::Session* answered_last_ = nullptr;  ///< kAnswer: its state is not written yet
  std::int64_t next_ = 0;                     ///< of in_turn()
  std::int64_t answers_ = 0;
  std::int64_t unanswered_ = 0;
};

}  // namespace foxhunt::contract
