#pragma once
// Where records come from: a file, a pipe, a ring; each as a reader that knows what it handed out.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "foxhunt/market/reader.h"
#include "foxhunt/serve/counters.h"
#include "foxhunt/serve/shared_ring.h"

namespace foxhunt::serve {

/// A file can be read again from its front; a pipe or a terminal cannot; a ring keeps what was not
/// given back.
enum class SourceKind { kFile, kStream, kRing };

/// Clocks, in ns.
struct Clock {
  std::int64_t (*wall)();
  std::int64_t (*steady)();
};
Clock system_clock();

/// What a source asks and tells while it has nothing.
struct Hooks {
  std::function<bool()> stop;            ///< whether to hand out no more
  std::function<void()> before_waiting;  ///< the next record is not there yet
  Counters* counters = nullptr;
  Clock clock{};
};

struct SourceOptions {
  std::string spec = "-";  ///< a path, "-" or "shm:NAME"
  market::ReadOptions read{};
  Waiting waiting = Waiting::kBlock;
  bool orders = false;              ///< a ring is to hold order events, not bars
  std::uint64_t ring_slots = 4096;  ///< where the ring has to be made
  /// Slots of a ring are given back by commit() alone, not as soon as the next record is asked for.
  bool hold = false;
};

/// A reader that is asked to stop ends early: at once where its records can be had again (file,
/// ring), behind everything that was read already where not (pipe).
class Source : public market::Reader {
 public:
  /// Errors  those of open_reader() and of SharedRing; InterruptedError: stopped before anything
  /// came.
  static std::unique_ptr<Source> open(const SourceOptions& options, Hooks hooks);

  virtual SourceKind kind() const = 0;
  /// A number that every record handed out changes: equal prefixes of two sources have equal ones.
  virtual std::uint64_t digest() = 0;
  /// The digest goes on from here; what was handed out before counts no more.
  virtual void set_digest(std::uint64_t digest) = 0;
  /// When the last record came, steady clock.
  virtual std::int64_t taken_at() const = 0;
  /// What was handed out is safe: a ring gives its slots back.
  virtual void commit() {}
  /// Of a ring: which one, and how many records were taken from it since it was made, and
  /// its slots. Else 0.
  virtual std::uint64_t ring_id() const { return 0; }
  virtual std::uint64_t ring_taken() const { return 0; }
  virtual std::uint64_t ring_capacity() const { return 0; }
  /// The source is over, and not merely stopped: nothing will follow.
  virtual bool over() const = 0;
  /// Nobody comes again after the end: a ring loses its name.
  virtual void remove() {}
};

/// The digest behind one more record.
std::uint64_t fold(std::uint64_t digest, const market::Record& record) noexcept;

}  // namespace foxhunt::serve
