#include "foxhunt/serve/ring_reader.h"

#include <fmt/format.h>

#include <string>

#include "foxhunt/base/error.h"
#include "foxhunt/base/log.h"

namespace foxhunt::serve {
namespace {

constexpr std::int64_t kLookEvery =
    100'000'000;  // ns between two questions whether the producer lives

std::string name_of(const std::string& spec) { return spec.substr(spec.find(':') + 1); }

}  // namespace

template <class Record>
RingReaderOf<Record>::RingReaderOf(const SourceOptions& options, const Hooks& hooks)
    : hooks_(hooks),
      waiting_(options.waiting),
      hold_(options.hold),
      ring_(open_ring<Slot>(name_of(options.spec), RingRole::kConsumer, SlotFor<Record>::kKind,
                            options.ring_slots)),
      consumer_(ring_->memory()) {
  info_.format = "ring";
  info_.schema = "mixed";
}

template <class Record>
void RingReaderOf<Record>::release() {
  consumer_.release();
  if (consumer_.producer_waits()) wake(ring_->header().space);
}

template <class Record>
const market::Record* RingReaderOf<Record>::next() {
  if (!hold_) release();
  for (;;) {
    if (hooks_.stop()) return nullptr;
    if (const Slot* slot = consumer_.front()) {
      take(*slot);
      consumer_.pop();
      had_producer_ = true;
      ++stats_.records;
      return &record_;
    }
    if (consumer_.closed() && consumer_.front() == nullptr) {
      over_ = true;
      return nullptr;
    }
    wait();
  }
}

template <class Record>
void RingReaderOf<Record>::take(const Slot& slot) {
  const Record record = record_of(slot);
  record_ = record;
  if (slot.has_symbols == 0) return;
  if (info_.mappings.empty()) {
    // A map without an entry: the stream has symbols, so that an id without one is unknown.
    info_.mappings.push_back({.raw_symbol = "", .start = {}, .end = {}, .instrument_id = 0});
  }
  const std::string_view symbol = text_of(slot.symbol);
  const UnixNanos at = market::index_time(record_);
  if (symbol.empty() || is_null(at)) return;
  const std::string rule = symbols_.note(info_, record.instrument.instrument_id, symbol, at);
  if (!rule.empty()) {
    throw DataError(fmt::format("shm:{}: record {}: symbol = '{}' {}", ring_->name(),
                                consumer_.taken(), symbol, rule));
  }
}

template <class Record>
void RingReaderOf<Record>::wait() {
  hooks_.before_waiting();
  RingHeader& header = ring_->header();
  const bool came = wait_for(header.data, header.data_waiters, waiting_,
                             [this] { return consumer_.front() != nullptr || consumer_.closed(); });
  if (!came) look_for_producer();
}

template <class Record>
void RingReaderOf<Record>::look_for_producer() {
  const std::int64_t now = hooks_.clock.steady();
  if (now - looked_at_ < kLookEvery) return;
  looked_at_ = now;
  const bool alive = ring_->other_side_alive();
  if (had_producer_ && !alive && consumer_.front() == nullptr && !consumer_.closed()) {
    hooks_.counters->producer_lost.add();
    log::warn("shm:{}: the producer is gone without an end; waiting for the next one",
              ring_->name());
  }
  had_producer_ = alive;
}

template class RingReaderOf<market::Bar>;
template class RingReaderOf<market::OrderEvent>;

std::unique_ptr<RingReader> RingReader::open(const SourceOptions& options, const Hooks& hooks) {
  if (options.orders) return std::make_unique<RingReaderOf<market::OrderEvent>>(options, hooks);
  return std::make_unique<RingReaderOf<market::Bar>>(options, hooks);
}

}  // namespace foxhunt::serve
