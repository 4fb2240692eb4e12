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

RingReader::RingReader(const SourceOptions& options, const Hooks& hooks)
    : hooks_(hooks),
      waiting_(options.waiting),
      hold_(options.hold),
      ring_(open_ring<RecordSlot>(name_of(options.spec), RingRole::kConsumer, RingKind::kRecords,
                                  options.ring_slots)),
      consumer_(ring_->memory()) {
  info_.format = "ring";
  info_.schema = "mixed";
}

void RingReader::release() {
  consumer_.release();
  if (consumer_.producer_waits()) wake(ring_->header().space);
}

const market::Record* RingReader::next() {
  if (!hold_) release();
  for (;;) {
    if (hooks_.stop()) return nullptr;
    if (const RecordSlot* slot = consumer_.front()) {
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

void RingReader::take(const RecordSlot& slot) {
  const market::Bar bar = bar_of(slot);
  record_ = bar;
  if (slot.has_symbols == 0) return;
  if (info_.mappings.empty()) {
    // A map without an entry: the stream has symbols, so that an id without one is unknown.
    info_.mappings.push_back({.raw_symbol = "", .start = {}, .end = {}, .instrument_id = 0});
  }
  const std::string_view symbol = text_of(slot.symbol);
  if (symbol.empty() || is_null(bar.start)) return;
  const std::string rule = symbols_.note(info_, bar.instrument.instrument_id, symbol, bar.start);
  if (!rule.empty()) {
    throw DataError(fmt::format("shm:{}: record {}: symbol = '{}' {}", ring_->name(),
                                consumer_.taken(), symbol, rule));
  }
}

void RingReader::wait() {
  hooks_.before_waiting();
  RingHeader& header = ring_->header();
  const bool came = wait_for(header.data, header.data_waiters, waiting_,
                             [this] { return consumer_.front() != nullptr || consumer_.closed(); });
  if (!came) look_for_producer();
}

void RingReader::look_for_producer() {
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

}  // namespace foxhunt::serve
