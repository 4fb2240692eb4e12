#pragma once
// The records of a ring as a market::Reader, with the symbols that came with them.

#include <memory>

#include "foxhunt/market/csv_symbols.h"
#include "foxhunt/serve/slots.h"
#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

class RingReader : public market::Reader {
 public:
  /// Of order events or of bars, as the options say. Errors  those of SharedRing.
  static std::unique_ptr<RingReader> open(const SourceOptions& options, const Hooks& hooks);

  virtual bool over() const = 0;
  virtual std::uint64_t id() const = 0;
  virtual std::uint64_t taken() const = 0;
  virtual std::uint64_t capacity() const = 0;
  virtual void release() = 0;
  virtual void unlink() = 0;
};

/// Waits for records of type `Record`; nullptr at the end of the stream and when asked to stop.
/// Errors of next()  DataError: an instrument with two symbols on one day.
template <class Record>
class RingReaderOf final : public RingReader {
 public:
  RingReaderOf(const SourceOptions& options, const Hooks& hooks);

  const market::StreamInfo& info() const override { return info_; }
  const market::Record* next() override;
  const market::ReadStats& stats() const override { return stats_; }

  bool over() const override { return over_; }
  std::uint64_t id() const override { return ring_->header().id; }
  std::uint64_t taken() const override { return consumer_.taken(); }
  std::uint64_t capacity() const override { return ring_->header().capacity; }
  void release() override;
  void unlink() override { ring_->unlink(); }

 private:
  using Slot = typename SlotFor<Record>::Slot;
  void take(const Slot& slot);
  void wait();
  void look_for_producer();

  const Hooks& hooks_;
  Waiting waiting_;
  bool hold_;
  std::unique_ptr<SharedRing> ring_;
  RingConsumer<Slot> consumer_;
  market::CsvSymbols symbols_;
  market::StreamInfo info_;
  market::ReadStats stats_;
  market::Record record_ = Record{};
  bool over_ = false;
  bool had_producer_ = false;   ///< since it was last found gone
  std::int64_t looked_at_ = 0;  ///< for the producer, steady clock
};

}  // namespace foxhunt::serve
