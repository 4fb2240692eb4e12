#pragma once
// Where answers go: a file, a pipe, a ring. Nothing is dropped: an answer is given, or the caller
// still has it.

#include <cstdint>
#include <memory>
#include <string>

#include "foxhunt/model/head_config.h"
#include "foxhunt/serve/slots.h"
#include "foxhunt/serve/source.h"

namespace foxhunt::serve {

enum class Put {
  kGiven,    ///< out, or in a buffer that flush() empties
  kStopped,  ///< asked to stop while the other side took nothing
  kGone,     ///< nobody reads any more
};

struct SinkOptions {
  std::string spec = "-";  ///< a path, "-" or "shm:NAME"
  model::HeadConfig head{};
  bool timing = true;  ///< engine_time and latency_ns in the lines
  Waiting waiting = Waiting::kBlock;
  std::uint64_t ring_slots = 4096;
  bool resumed = false;            ///< goes on behind what a process before has written
  std::int64_t resume_bytes = -1;  ///< of a file: how long it was when its state was saved
  std::string resume_tail{};       ///< of a file: how it ended then
};

class Sink {
 public:
  virtual ~Sink() = default;
  /// Errors  IoError: a file that cannot be written (a full disk).
  virtual Put put(const AnswerSlot& answer) = 0;
  /// What is in a buffer goes out; at the latest 20 ms after it came, and before any waiting.
  /// Errors  as put().
  virtual void flush() {}
  /// Safe on disk. Errors  IoError.
  virtual void sync() {}
  /// Bytes of the output file; -1 where it is none.
  virtual std::int64_t bytes() const { return -1; }
  virtual std::string tail() const { return {}; }  ///< the last line of the file
  /// There will be no more answers: a ring says so to its consumer.
  virtual void close() {}

  /// Stalls are counted in hooks.counters; while in one, hooks.stop() is asked. A file is begun
  /// anew, or, resumed, cut back to resume_bytes. Errors  IoError; DataError: a file that is
  /// shorter than it was, or other; those of SharedRing.
  static std::unique_ptr<Sink> open(const SinkOptions& options, Hooks hooks);
};

/// The line of an answer: that of `foxhunt predict`, then engine_time, latency_ns and model. With
/// its newline.
std::string line_of(const AnswerSlot& answer, const model::HeadConfig& head, bool timing);

}  // namespace foxhunt::serve
