#include "foxhunt/serve/sink.h"

#include <fmt/format.h>

#include <algorithm>

#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"
#include "foxhunt/serve/file_sink.h"
#include "foxhunt/serve/stall.h"

namespace foxhunt::serve {
namespace {

/// Answers as slots of a ring.
class RingSink final : public Sink {
 public:
  RingSink(const SinkOptions& options, Hooks hooks)
      : hooks_(std::move(hooks)),
        waiting_(options.waiting),
        ring_(open_ring<AnswerSlot>(options.spec.substr(options.spec.find(':') + 1),
                                    RingRole::kProducer, RingKind::kAnswers, options.ring_slots)),
        producer_(ring_->memory()) {
    // Answers that are in the ring already are not given twice.
    if (options.resumed && producer_.last() != nullptr) given_ = *producer_.last();
  }

  Put put(const AnswerSlot& answer) override {
    if (answer.number <= given_.number) {
      if (answer.number == given_.number) check_given(answer);
      return Put::kGiven;
    }
    if (!producer_.push(answer)) {
      producer_.count_full();
      Stall stall(hooks_, "shm:" + ring_->name());
      RingHeader& header = ring_->header();
      bool pushed = false;
      while (!pushed) {
        if (hooks_.stop()) return Put::kStopped;
        wait_for(header.space, header.space_waiters, waiting_,
                 [&] { return pushed = pushed || producer_.push(answer); });
      }
    }
    if (producer_.consumer_waits()) wake(ring_->header().data);
    return Put::kGiven;
  }
  void close() override {
    producer_.close();
    wake(ring_->header().data);
  }

 private:
  /// What is there must be the answer that is not given again, or answers would be lost.
  void check_given(const AnswerSlot& answer) const {
    if (answer.event_time == given_.event_time && std::ranges::equal(answer.model, given_.model) &&
        std::ranges::equal(answer.outputs, given_.outputs)) {
      return;
    }
    throw DataError(fmt::format(
        "shm:{}: holds another answer {} than this stream's; the ring is of something else",
        ring_->name(), answer.number));
  }

  Hooks hooks_;
  Waiting waiting_;
  std::unique_ptr<SharedRing> ring_;
  RingProducer<AnswerSlot> producer_;
  AnswerSlot given_{};  ///< the last answer of the process before
};

}  // namespace

Stall::Stall(const Hooks& hooks, const std::string& output)
    : hooks_(hooks), began_(hooks.clock.steady()) {
  hooks_.counters->stalls.add();
  hooks_.counters->stalled.set(1);
  if (hooks_.counters->stalls.get() == 1) {
    log::warn("{}: takes no more answers; serving waits until it does", output);
  }
}

Stall::~Stall() {
  hooks_.counters->stall_ns.add(hooks_.clock.steady() - began_);
  hooks_.counters->stalled.set(0);
}

std::unique_ptr<Sink> Sink::open(const SinkOptions& options, Hooks hooks) {
  if (options.spec.starts_with("shm:"))
    return std::make_unique<RingSink>(options, std::move(hooks));
  return open_file_sink(options, std::move(hooks));
}

}  // namespace foxhunt::serve
