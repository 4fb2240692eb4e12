#include "foxhunt/contract/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "foxhunt/base/error.h"
#include "foxhunt/features/row_pipeline.h"

namespace foxhunt::contract {
namespace {

struct Name {
  Timed timed;
  std::string_view name;
};
constexpr std::array<Name, 3> kNames{
    {{Timed::kStep, "step"}, {Timed::kEvent, "event"}, {Timed::kAnswer, "answer"}}};

std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::string_view to_string(Timed timed) {
  return std::ranges::find(kNames, timed, &Name::timed)->name;
}

Timed timed_of(std::string_view name) {
  const auto* const found = std::ranges::find(kNames, name, &Name::name);
  if (found == kNames.end()) {
    throw UsageError(fmt::format("'{}' is not timed; step, event and answer are", name));
  }
  return found->timed;
}

engine::Status Rows::on_event(engine::Session& session, std::int64_t record,
                              std::span<float> out) const noexcept {
  return events.empty() ? session.on_event(bars[index(record)], out)
                        : session.on_event(events[index(record)], out);
}

engine::Status Rows::answer(engine::Session& session, std::int64_t record,
                            std::span<float> out) const noexcept {
  return events.empty() ? session.answer(bars[index(record)], out)
                        : session.answer(events[index(record)], out);
}

Rows rows_of(const std::shared_ptr<const engine::Plan>& plan) {
  const bundle::Bundle& bundle = plan->bundle();
  features::RowPipeline pipeline = bundle.context.pipeline();
  Rows rows;
  rows.bars = bundle.golden.bars;
  rows.events = bundle.golden.events;
  rows.n_features = plan->n_features();
  std::vector<float> row(index(rows.n_features));
  std::int64_t at = 0;
  const auto push = [&](const auto& record) {
    if (pipeline.push(record, row).status == features::Status::kReady) {
      rows.answered.push_back(at);
      rows.features.insert(rows.features.end(), row.begin(), row.end());
    }
    ++at;
  };
  std::ranges::for_each(rows.bars, push);
  std::ranges::for_each(rows.events, push);
  if (rows.answered.empty()) {
    throw DataError(
        fmt::format("[contract] none of the bundle's {} records is answered: nothing to time", at));
  }
  return rows;
}

Replay::Replay(const std::shared_ptr<const engine::Plan>& plan, const Rows& rows, Timed timed,
               std::int64_t sessions)
    : rows_(&rows), timed_(timed), out_(index(plan->n_outputs())) {
  if (sessions < 1) throw UsageError(fmt::format("[contract] {} sessions: must be >= 1", sessions));
  sessions_.reserve(index(sessions));
  sessions_.emplace_back(plan);
  while (std::ssize(sessions_) < sessions) sessions_.emplace_back(sessions_.front());
}

std::int64_t Replay::events() const {
  return static_cast<std::int64_t>(rows_->answered.size() * sessions_.size());
}

/// Touches the session of `event` only where records lie between: a cold one stays cold.
void Replay::prepare(std::int64_t event) noexcept {
  if (answered_last_ != nullptr) {
    answered_last_->advance();
    answered_last_ = nullptr;
  }
  const auto sessions = static_cast<std::int64_t>(sessions_.size());
  const std::int64_t turn = event / sessions;
  session_ = &sessions_[index(event % sessions)];
  record_ = rows_->answered[index(turn)];
  row_ = {rows_->features.data() + turn * rows_->n_features, index(rows_->n_features)};
  if (timed_ == Timed::kStep) return;
  if (turn == 0) session_->reset();
  const std::int64_t from = turn == 0 ? 0 : rows_->answered[index(turn - 1)] + 1;
  for (std::int64_t i = from; i < record_; ++i) rows_->on_event(*session_, i, out_);
}

void Replay::run() noexcept {
  engine::Status status = engine::Status::kReady;
  switch (timed_) {
    case Timed::kStep:
      status = session_->step(row_, out_);
      break;
    case Timed::kEvent:
      status = rows_->on_event(*session_, record_, out_);
      break;
    case Timed::kAnswer:
      status = rows_->answer(*session_, record_, out_);
      answered_last_ = session_;
      break;
  }
  ++answers_;
  unanswered_ += status == engine::Status::kReady ? 0 : 1;
}

latency::EventWork Replay::work() {
  prepare(0);
  return {.run = [](void* context,
                    std::int64_t /*event*/) noexcept { static_cast<Replay*>(context)->run(); },
          .context = this,
          .events = events(),
          .prepare =
              [](void* context, std::int64_t event) noexcept {
                static_cast<Replay*>(context)->prepare(event);
              }};
}

latency::Work Replay::in_turn() {
  next_ = 0;
  return {.run =
              [](void* context) noexcept {
                auto& replay = *static_cast<Replay*>(context);
                replay.prepare(replay.next_);
                replay.run();
                replay.next_ = replay.next_ + 1 < replay.events() ? replay.next_ + 1 : 0;
              },
          .context = this};
}

}  // namespace foxhunt::contract
