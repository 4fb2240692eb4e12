#include "foxhunt/serve/source.h"

#include <ctime>
#include <utility>
#include <variant>

#include "foxhunt/base/error.h"
#include "foxhunt/serve/fd_input.h"
#include "foxhunt/serve/ring_reader.h"

namespace foxhunt::serve {
namespace {

std::int64_t clock_ns(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);  // no call of the system: the kernel's page answers
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::uint64_t mix(std::uint64_t digest, std::uint64_t word) noexcept {
  std::uint64_t x = (digest ^ word) + 0x9E3779B97F4A7C15ULL;  // splitmix64
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31U);
}

std::uint64_t word(std::int64_t v) noexcept { return static_cast<std::uint64_t>(v); }

/// What the kinds share: count, digest and time of what the inner reader hands out.
template <class Inner>
class Tracked : public Source {
 public:
  Tracked(Hooks hooks, bool stops_at_once)
      : hooks_(std::move(hooks)), stops_at_once_(stops_at_once) {}

  const market::StreamInfo& info() const override { return inner_->info(); }
  const market::ReadStats& stats() const override { return inner_->stats(); }
  std::int64_t taken_at() const override { return taken_at_; }

  const market::Record* next() override {
    absorb();
    if (stops_at_once_ && hooks_.stop()) return nullptr;
    try {
      last_ = inner_->next();
    } catch (const InterruptedError&) {
      return nullptr;
    }
    taken_at_ = hooks_.clock.steady();
    if (last_ == nullptr) {
      ended_ = true;
    } else {
      hooks_.counters->records.add();
    }
    return last_;
  }
  std::uint64_t digest() override {
    absorb();
    return digest_;
  }
  void set_digest(std::uint64_t digest) override {
    last_ = nullptr;
    digest_ = digest;
  }
  bool over() const override { return ended_; }

 protected:
  /// The record that was handed out last goes into the digest when it is needed no more: not before
  /// its answer.
  void absorb() {
    if (last_ != nullptr) digest_ = fold(digest_, *last_);
    last_ = nullptr;
  }

  Hooks hooks_;
  bool stops_at_once_;
  std::unique_ptr<Inner> inner_;

 private:
  const market::Record* last_ = nullptr;
  std::uint64_t digest_ = 0;
  std::int64_t taken_at_ = 0;
  bool ended_ = false;
};

class FileSource final : public Tracked<market::Reader> {
 public:
  FileSource(const SourceOptions& options, Hooks hooks) : Tracked(std::move(hooks), false) {
    auto input = std::make_unique<FdInput>(options.spec, options.waiting, hooks_);
    kind_ = input->kind();
    stops_at_once_ = kind_ == SourceKind::kFile;
    market::ReadOptions read = options.read;
    read.whole_lines = kind_ == SourceKind::kStream;
    inner_ = market::open_reader(std::move(input),
                                 options.spec == "-" ? "standard input" : options.spec, read);
  }
  SourceKind kind() const override { return kind_; }

 private:
  SourceKind kind_ = SourceKind::kFile;
};

class RingSource final : public Tracked<RingReader> {
 public:
  RingSource(const SourceOptions& options, Hooks hooks) : Tracked(std::move(hooks), false) {
    inner_ = RingReader::open(options, hooks_);
  }
  SourceKind kind() const override { return SourceKind::kRing; }
  void commit() override { inner_->release(); }
  std::uint64_t ring_id() const override { return inner_->id(); }
  std::uint64_t ring_taken() const override { return inner_->taken(); }
  std::uint64_t ring_capacity() const override { return inner_->capacity(); }
  bool over() const override { return inner_->over(); }
  void remove() override { inner_->unlink(); }
};

}  // namespace

Clock system_clock() {
  return {.wall = [] { return clock_ns(CLOCK_REALTIME); },
          .steady = [] { return clock_ns(CLOCK_MONOTONIC); }};
}

std::uint64_t fold(std::uint64_t digest, const market::Record& record) noexcept {
  const market::InstrumentKey key = market::instrument_of(record);
  digest = mix(digest, (std::uint64_t{key.publisher_id} << 40U) |
                           (std::uint64_t{key.instrument_id} << 8U) | record.index());
  digest = mix(digest, word(count(market::index_time(record))));
  if (const auto* bar = std::get_if<market::Bar>(&record)) {
    for (const std::int64_t v :
         {bar->span.count(), bar->open.nano, bar->high.nano, bar->low.nano, bar->close.nano})
      digest = mix(digest, word(v));
    digest = mix(digest, bar->volume);
  } else if (const auto* event = std::get_if<market::OrderEvent>(&record)) {
    digest = mix(digest, event->order_id);
    digest = mix(digest, word(event->price.nano));
    digest = mix(digest, std::uint64_t{event->size} << 32U | event->sequence);
    digest =
        mix(digest, static_cast<std::uint64_t>(static_cast<unsigned char>(event->action)) << 16U |
                        static_cast<std::uint64_t>(event->side) << 8U | event->flags);
  }
  return digest;
}

std::unique_ptr<Source> Source::open(const SourceOptions& options, Hooks hooks) {
  if (options.spec.starts_with("shm:"))
    return std::make_unique<RingSource>(options, std::move(hooks));
  return std::make_unique<FileSource>(options, std::move(hooks));
}

}  // namespace foxhunt::serve
