#pragma once
// The records of a ring as a market::Reader, with the symbols that came with them.

#include <memory>

#include "foxhunt/market/csv_symbols.h"
#include "foxhunt/serve/slots.h"
#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

class RingReader final : public market::Reader {
 public:
  RingReader(const SourceOptions& options, const Hooks& hooks);

  const market::StreamInfo& info() const override { return info_; }
  /// Waits for a record; nullptr at the end of the stream and when asked to stop.
  /// Errors  DataError: an instrument with two symbols on one day.
  const market::Record* next() override;
  const market::ReadStats& stats() const override { return stats_; }

  bool over() const { return over_; }
  std::uint64_t id() const { return ring_->header().id; }
  std::uint64_t taken() const { return consumer_.taken(); }
  std::uint64_t capacity() const { return ring_->header().capacity; }
  void release();
  void unlink() { ring_->unlink(); }

 private:
  void take(const RecordSlot& slot);
  void wait();
  void look_for_producer();

  const Hooks& hooks_;
  Waiting waiting_;
  bool hold_;
  std::unique_ptr<SharedRing> ring_;
  RingConsumer<RecordSlot> consumer_;
  market::CsvSymbols symbols_;
  market::StreamInfo info_;
  market::ReadStats stats_;
  market::Record record_ = market::Bar{};
  bool over_ = false;
  bool had_producer_ = false;   ///< since it was last found gone
  std::int64_t looked_at_ = 0;  ///< for the producer, steady clock
};

}  // namespace foxhunt::serve
